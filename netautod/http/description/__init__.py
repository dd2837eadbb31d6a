"""Parts of the OpenAPI description: names, schemas of fields, examples, answers."""
