"""Makes a row of each function in the header, for test_table.c and test_handles.c. A row has the kind of each
parameter, whether the parameter is required, and a call of the function with arguments of these kinds. A function
with a parameter of an unknown kind is an error, so no function is left out."""

import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "scripts"))
import header  # noqa: E402: the header as a table

#: The kinds of the C types that mean the same in every parameter.
KINDS = {
    "enroll_client *": "CLIENT",
    "enroll_client **": "HANDLE_OUT",
    "enroll_pending *": "PENDING",
    "enroll_pending **": "HANDLE_OUT",
    "enroll_queue *": "QUEUE",
    "enroll_queue **": "HANDLE_OUT",
    "enroll_http_response *": "RESPONSE",
    "enroll_error *": "FAILURE",
    "enroll_buf *": "BUFFER_OUT",
    "int32_t *": "NUMBER_OUT",
    "int64_t *": "NUMBER_OUT",
    "size_t *": "NUMBER_OUT",
    "enroll_status": "NUMBER",
    "int32_t": "NUMBER",
    "int64_t": "NUMBER",
    "size_t": "NUMBER",
    "void *": "USER_DATA",
    "char *": "ROOM",
    "const char *": "TEXT",
}


#: Kinds of parameters that point to a struct or a number.
SIZED = ("STRUCT_IN", "STRUCT_OUT", "FAILURE", "BUFFER_OUT", "NUMBER_OUT")


def kind(read, part, before):
    structs = {record.name for record in read.records}
    callbacks = {callback.name for callback in read.callbacks}
    bare = part.type.removeprefix("const ").removesuffix(" *")
    if part.name == "timeout_ms":
        return "TIMEOUT"
    if before is not None and before.type == "const char *" and part.type == "size_t":
        return "TEXT_SIZE"
    if part.type in KINDS:
        return KINDS[part.type]
    if bare in structs:
        return "STRUCT_IN" if part.type.startswith("const ") else "STRUCT_OUT"
    if part.type in callbacks:
        return "CALLBACK"
    raise SystemExit(f"table.py knows no parameter of type {part.type} ({part.name})")


def value(part, kind_of, index):
    member = {"TEXT_SIZE": "number", "NUMBER": "number", "TIMEOUT": "number", "CALLBACK": "function"}
    return f"({part.type})arguments[{index}].{member.get(kind_of, 'pointer')}"


def rows(read):
    thunks, table = [], []
    for function in read.functions:
        kinds, before = [], None
        for part in function.parameters:
            kinds.append(kind(read, part, before))
            before = part
        values = ", ".join(value(part, kinds[index], index) for index, part in enumerate(function.parameters))
        call = f"{function.name}({values})"
        unused = "" if function.parameters else "(void)arguments;\n  "
        body = f"{call};\n  return 0;" if function.type == "void" else f"return (int64_t){call};"
        thunks.append(f"static int64_t call_{function.name}(const argument *arguments) {{\n  {unused}{body}\n}}\n")
        parts = []
        for part, kind_of in zip(function.parameters, kinds):
            required = int(read.says(function, part.name, "must not be NULL"))
            optional = int(read.says(function, part.name, "[Oo]ptional"))
            bare = part.type.removeprefix("const ").removesuffix(" *")
            size = f"sizeof({bare})" if kind_of in SIZED else "0"
            parts.append(f'{{"{part.name}", {kind_of}, {required}, {optional}, {size}}}')
        status = int(function.type == "enroll_status")
        listed = ", ".join(parts) or '{NULL, NUMBER, 0, 0, 0}'
        table.append(f'    {{"{function.name}", call_{function.name}, {status}, {len(parts)}, {{{listed}}}}},\n')
    return "".join(thunks) + "\nstatic const row rows[] = {\n" + "".join(table) + "};\n"


def write(path):
    path.write_text("/* Written by table.py from enroll.h. */\n" + rows(header.read()))
