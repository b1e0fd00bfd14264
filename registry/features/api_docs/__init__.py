"""Documentation of the API: OpenAPI document and page."""
