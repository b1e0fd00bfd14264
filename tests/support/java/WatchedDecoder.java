import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.Decoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.util.Utf8;

/**
 * Java's decoder, beside notes on what it takes and the written rules refuse: dropped bits of numbers, booleans of other
 * bytes, text that is no UTF-8, blocks that end elsewhere than they say.
 */
final class WatchedDecoder extends Decoder {
  private static final long MOST = 1_000_000;
  private final byte[] body;
  private final Set<String> broken;
  private final BinaryDecoder java;
  final Deque<Long> items = new ArrayDeque<>(); // of open arrays and maps, what an item of no bytes counts for, or 0
  private long allowance = MOST; // of items that take no bytes, in the whole record
  private final Deque<Long> stops = new ArrayDeque<>(); // where open blocks say that they end; -1 where they do not

  WatchedDecoder(byte[] body, Set<String> broken) {
    this.body = body;
    this.broken = broken;
    java = DecoderFactory.get().binaryDecoder(body, null);
  }

  int position() {
    try {
      return body.length - java.inputStream().available();
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Java drops the bits that do not fit; here they are refused. */
  private void number(int start, int most, String rule) {
    for (int index = 0; index < most && start + index < body.length; index++) {
      int one = body[start + index] & 0xff;
      if (one < 0x80) {
        if (index == most - 1 && one > (most == 5 ? 0x0f : 0x01)) {
          broken.add(rule);
        }
        return;
      }
    }
  }

  private int read32() throws IOException {
    number(position(), 5, "INT_OUT_OF_RANGE");
    return java.readInt();
  }

  private long read64() throws IOException {
    number(position(), 10, "BAD_VARINT");
    return java.readLong();
  }

  /** A length beyond the input ends as Java would end, without room being made for it first. */
  private void length() throws IOException {
    int start = position();
    BinaryDecoder ahead = DecoderFactory.get().binaryDecoder(body, start, body.length - start, null);
    number(start, 10, "BAD_VARINT");
    long length = ahead.readLong();
    if (length > ahead.inputStream().available()) {
      throw new EOFException();
    }
  }

  private long opened(Items next) throws IOException {
    int start = position();
    BinaryDecoder ahead = DecoderFactory.get().binaryDecoder(body, start, body.length - start, null);
    number(start, 10, "BAD_VARINT");
    long count = ahead.readLong();
    long stop = -1;
    if (count < 0) {
      number(body.length - ahead.inputStream().available(), 10, "BAD_VARINT");
      long size = ahead.readLong();
      int left = ahead.inputStream().available();
      if (size < 0 || size > Integer.MAX_VALUE) {
        broken.add("BAD_LENGTH");
      } else if (size > left) {
        broken.add("TRUNCATED");
      }
      stop = body.length - left + size;
    }
    allowed(Math.abs(count), ahead.inputStream().available());
    long found = next.count();
    if (found != 0) {
      stops.push(stop);
    }
    return found;
  }

  /** Java would make room for items that have no bytes, or wait for bytes that are not there. */
  private void allowed(long count, int left) throws IOException {
    long cost = items.peek();
    if (count < 0 || cost == 0 && count > left || cost > 0 && count > allowance / cost) {
      throw new EOFException("too many items");
    }
    allowance -= count * cost;
  }

  private void closed() {
    long stop = stops.pop();
    if (stop >= 0 && stop != position()) {
      broken.add("BAD_LENGTH");
    }
  }

  private interface Items {
    long count() throws IOException;
  }

  @Override
  public void readNull() throws IOException {
    java.readNull();
  }

  @Override
  public boolean readBoolean() throws IOException {
    int start = position();
    if (start < body.length && (body[start] & 0xff) > 1) {
      broken.add("BAD_BOOLEAN");
    }
    return java.readBoolean();
  }

  @Override
  public int readInt() throws IOException {
    return read32();
  }

  @Override
  public long readLong() throws IOException {
    return read64();
  }

  @Override
  public float readFloat() throws IOException {
    return java.readFloat();
  }

  @Override
  public double readDouble() throws IOException {
    return java.readDouble();
  }

  @Override
  public Utf8 readString(Utf8 old) throws IOException {
    length();
    Utf8 text = java.readString(null);
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(text.getBytes(), 0, text.getByteLength()));
    } catch (CharacterCodingException problem) {
      broken.add("BAD_UTF8");
    }
    return text;
  }

  @Override
  public String readString() throws IOException {
    return readString(null).toString();
  }

  @Override
  public void skipString() throws IOException {
    readString(null);
  }

  @Override
  public ByteBuffer readBytes(ByteBuffer old) throws IOException {
    length();
    return java.readBytes(null);
  }

  @Override
  public void skipBytes() throws IOException {
    readBytes(null);
  }

  @Override
  public void readFixed(byte[] bytes, int start, int length) throws IOException {
    java.readFixed(bytes, start, length);
  }

  @Override
  public void skipFixed(int length) throws IOException {
    java.skipFixed(length);
  }

  @Override
  public int readEnum() throws IOException {
    number(position(), 5, "INT_OUT_OF_RANGE");
    return java.readEnum();
  }

  @Override
  public int readIndex() throws IOException {
    number(position(), 5, "INT_OUT_OF_RANGE");
    return java.readIndex();
  }

  @Override
  public long readArrayStart() throws IOException {
    return opened(java::readArrayStart);
  }

  @Override
  public long arrayNext() throws IOException {
    closed();
    return opened(java::arrayNext);
  }

  @Override
  public long readMapStart() throws IOException {
    return opened(java::readMapStart);
  }

  @Override
  public long mapNext() throws IOException {
    closed();
    return opened(java::mapNext);
  }

  @Override
  public long skipArray() {
    throw new UnsupportedOperationException("what is read as it was written skips nothing");
  }

  @Override
  public long skipMap() {
    throw new UnsupportedOperationException("what is read as it was written skips nothing");
  }
}
