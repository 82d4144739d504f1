"""The part of JSON Schema that docs/schemas use: types, const, enum, required, properties, items."""

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
    "integer": int, "number": (int, float),
}


def is_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def errors(value, schema, where="$"):
    """What does not fit, a line each."""
    if "const" in schema and value != schema["const"]:
        yield f"{where}: expected {schema['const']!r}, found {value!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: expected one of {schema['enum']}, found {value!r}"
    wanted = schema.get("type")
    if wanted is not None:
        names = wanted if isinstance(wanted, list) else [wanted]
        if not any(is_type(value, name) for name in names):
            yield f"{where}: expected {wanted}, found {value!r}"
            return
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for key in schema.get("required", []):
            if key not in value:
                yield f"{where}: {key} is missing"
        for key, item in value.items():
            inner = properties.get(key, schema.get("additionalProperties", True))
            if inner is False:
                yield f"{where}: {key} is not in the schema"
            elif isinstance(inner, dict):
                yield from errors(item, inner, f"{where}.{key}")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            yield from errors(item, schema["items"], f"{where}[{i}]")
