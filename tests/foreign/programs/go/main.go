// franz-go's registry client: registers, evolves, is refused, looks up, frames and reads back.
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/twmb/franz-go/pkg/sr"
)

const (
	id   = `{"name":"id","type":"long"}`
	note = `,{"name":"note","type":["null","string"],"default":null}`
)

var ctx = context.Background()

func record(fields string) sr.Schema {
	return sr.Schema{Schema: `{"type":"record","name":"Order","fields":[` + fields + `]}`}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func same(found, expected any) {
	if !reflect.DeepEqual(found, expected) {
		panic(fmt.Sprintf("expected %v, found %v", expected, found))
	}
}

func refused(err error, status, code int) {
	var refusal *sr.ResponseError
	if !errors.As(err, &refusal) {
		panic(fmt.Sprintf("not refused: %v", err))
	}
	same([]int{refusal.StatusCode, refusal.ErrorCode}, []int{status, code})
}

func registersAndReads(client *sr.Client) {
	first := must(client.CreateSchema(ctx, "t-value", record(id)))
	same([]int{first.ID, first.Version}, []int{1, 1})
	same(must(client.CheckCompatibility(ctx, "t-value", -1, record(id+note))).Is, true)
	bad := record(id + `,{"name":"total","type":"double"}`)
	verbose := sr.WithParams(ctx, sr.Verbose)
	judged := must(client.CheckCompatibility(verbose, "t-value", -1, bad))
	same(judged.Is, false)
	same(len(judged.Messages) > 0, true)
	same(must(client.CheckCompatibility(ctx, "t-value", -2, bad)).Is, false)
	second := must(client.CreateSchema(ctx, "t-value", record(id+note)))
	same([]int{second.ID, second.Version}, []int{2, 2})
	_, err := client.CreateSchema(ctx, "t-value", bad)
	refused(err, 409, 40901)
	same(must(client.RegisterSchema(ctx, "t-value", record(id), -1, -1)), 1)

	shared := must(client.CreateSchema(ctx, "other-value", record(id)))
	same([]any{shared.ID, shared.Subject}, []any{1, "other-value"})
	same(len(must(client.SchemaVersionsByID(ctx, 1))), 2)
	same(len(must(client.SchemaUsagesByID(ctx, 1))), 2)

	same(must(client.SchemaByID(ctx, 1)).Schema, record(id).Schema)
	same(must(client.SchemaTextByID(ctx, 1)), record(id).Schema)
	same(must(client.SchemaTextByVersion(ctx, "t-value", 2)), record(id+note).Schema)
	same(must(client.SchemaByVersion(ctx, "t-value", -1)).Version, 2)
	same(must(client.SubjectsByID(ctx, 2)), []string{"t-value"})
	same(must(client.Subjects(ctx)), []string{"other-value", "t-value"})
	same(must(client.SubjectVersions(ctx, "t-value")), []int{1, 2})
	same(len(must(client.Schemas(ctx, "t-value"))), 2)
	same(len(must(client.AllSchemas(ctx))), 3)
	same(must(client.LookupSchema(ctx, "t-value", record(id+note))).Version, 2)
	same(must(client.SchemaByGUID(ctx, second.GUID)).Schema.Schema, record(id+note).Schema)
	same(must(client.SchemaIDsByGUID(ctx, second.GUID))[0].ID, 2)
	types := must(client.SupportedTypes(ctx))
	same(len(types) >= 2, true)
	same(must(client.Contexts(ctx)), []string{"."})
	every := sr.WithParams(ctx, sr.Normalize, sr.Verbose, sr.ShowDeleted)
	same(must(client.SubjectVersions(every, "t-value")), []int{1, 2})
	same(must(client.LookupSchema(every, "t-value", record(id))).Version, 1)
	_, err = client.SchemaByID(ctx, 99)
	refused(err, 404, 40403)
	_, err = client.SubjectVersions(ctx, "nobody")
	refused(err, 404, 40401)
	_, err = client.CreateSchema(ctx, "t-value", sr.Schema{Schema: "syntax", Type: sr.TypeProtobuf})
	refused(err, 422, 42201)

	base := must(client.CreateSchema(ctx, "base", sr.Schema{Schema: `{"type":"record","name":"Base","fields":[]}`}))
	leaning := record(id + `,{"name":"base","type":"Base"}`)
	leaning.References = []sr.SchemaReference{{Name: "Base", Subject: "base", Version: base.Version}}
	created := must(client.CreateSchema(ctx, "leaning", leaning))
	used := must(client.SchemaReferences(ctx, "base", 1))
	same([]any{len(used), used[0].ID}, []any{1, created.ID})
}

func configures(client *sr.Client) {
	levels := client.Compatibility(ctx, "", "t-value")
	same(levels[0].Level, sr.CompatBackward)
	refused(levels[1].Err, 404, 40408)
	set := client.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatFull}, "t-value")
	same([]any{set[0].Err, set[0].Level}, []any{nil, sr.CompatFull})
	same(client.Compatibility(ctx, "t-value")[0].Level, sr.CompatFull)
	same(client.ResetCompatibility(ctx, "t-value")[0].Err, nil)
	same(client.SetMode(ctx, sr.ModeReadOnly, "t-value")[0].Err, nil)
	same(client.Mode(ctx, "t-value")[0].Mode, sr.ModeReadOnly)
	_, err := client.CreateSchema(ctx, "t-value", record(id+`,{"name":"more","type":"long","default":0}`))
	refused(err, 422, 42205)
	same(client.ResetMode(ctx, "t-value")[0].Err, nil)
}

type order struct {
	ID int64 `json:"id"`
}

func frames(client *sr.Client) string {
	text := `{"type":"object","title":"J","properties":{"id":{"type":"integer"}}}`
	created := must(client.CreateSchema(ctx, "json-value", sr.Schema{Schema: text, Type: sr.TypeJSON}))
	serde := sr.NewSerde()
	serde.Register(created.ID, order{}, sr.EncodeFn(json.Marshal), sr.DecodeFn(json.Unmarshal))
	framed := must(serde.Encode(order{7}))
	var read order
	if err := serde.Decode(framed, &read); err != nil {
		panic(err)
	}
	same(read, order{7})
	number, _, err := serde.DecodeID(framed)
	same([]any{number, err}, []any{created.ID, nil})
	return hex.EncodeToString(framed)
}

func deletes(client *sr.Client) {
	same(client.DeleteSchema(ctx, "t-value", 1, sr.SoftDelete), nil)
	same(client.DeleteSchema(ctx, "t-value", 1, sr.HardDelete), nil)
	same(must(client.DeleteSubject(ctx, "t-value", sr.SoftDelete)), []int{2})
	same(must(client.DeleteSubject(ctx, "t-value", sr.HardDelete)), []int{2})
	_, err := client.SubjectVersions(ctx, "t-value")
	refused(err, 404, 40401)
}

func main() {
	client := must(sr.NewClient(sr.URLs(os.Args[1])))
	registersAndReads(client)
	configures(client)
	framed := frames(client)
	deletes(client)
	fmt.Printf("{\"framed\":%q}\n", framed)
}
