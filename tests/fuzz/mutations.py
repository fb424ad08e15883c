"""Damage to files, drawn from a seed: bytes, numbers in JSON, members of an archive, arrays."""

from __future__ import annotations

import copy
import io
import json
import struct
import zipfile
import zlib

import numpy as np

# Numbers at which sizes, offsets and indices go wrong.
NUMBERS = [
    *(-1, 0, 1, 2, 7, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**53),
    *(2**62, 2**63 - 1, -(2**31), -(2**63), 10**30, 0.5, -0.0, 1e300, 1e-300, float("nan")),
]
TEXTS = ["", "0", "-1", "nan", "1e999", "\ud800", "\x00", "é" * 50, "a" * 5000, "__class__", "[[["]
# Libraries write numbers as strings, too.
VALUES = [*NUMBERS, *map(str, NUMBERS), *TEXTS, None, True, False, [], {}, [0], {"a": 1}]


def damage_bytes(random, content, *, most=4):
    """Change, insert, remove, repeat or cut off some bytes."""
    data = bytearray(content)
    for _ in range(1 if random.random() < 0.6 else random.integers(1, most + 1)):
        place = int(random.integers(len(data) + 1))
        length = int(random.choice([1, 1, 2, 4, 8, 64]))
        how = random.integers(8)
        if how <= 2:
            data[place : place + 1] = bytes([random.integers(256)])
        elif how == 3:
            data[place : place + length] = random.bytes(length)
        elif how == 4:
            number = int(random.choice([-1, 0, 1, 127, 2**31 - 1, -(2**31), 2**16]))
            data[place : place + 4] = struct.pack("<i", number)
        elif how == 5:
            del data[place : place + length]
        elif how == 6:
            start = int(random.integers(len(data) + 1))
            data[place:place] = data[start : start + length]
        elif random.random() < 0.2:
            del data[place:]
        else:
            data[place : place + 1] = bytes([int(random.choice([0, 1, 127, 128, 255]))])
    return bytes(data)


def damage_json(random, document, *, most=2):
    """Replace, remove, repeat or exchange values somewhere in a document."""
    document = copy.deepcopy(document)
    for _ in range(1 if random.random() < 0.7 else most):
        places = list(_places(document))
        if not places:
            break
        holder, key = places[random.integers(len(places))]
        how = random.integers(6)
        if how <= 2:
            holder[key] = copy.deepcopy(VALUES[random.integers(len(VALUES))])
        elif how == 3 and isinstance(holder[key], int | float):
            holder[key] = holder[key] + int(random.choice([-1, 1, 2, 1000]))
        elif how == 4:
            other, name = places[random.integers(len(places))]
            holder[key] = copy.deepcopy(other[name])
        else:
            del holder[key]
    return document


def _places(document):
    waiting = [document]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            yield holder, key
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])


def damage_container(random, content):
    """Damage a file of ours, most often behind a checksum that is right again."""
    if random.random() < 0.2:
        return damage_bytes(random, content)
    _, _, length = struct.unpack_from("<8sII", content)
    start = -(-(16 + length) // 64) * 64
    header, arrays = json.loads(content[16 : 16 + length]), content[start:-4]
    if random.random() < 0.6:
        part = header if random.random() < 0.2 else header["header"]
        damaged = damage_json(random, part)
        header = damaged if part is header else header | {"header": damaged}
    else:
        arrays = _same_length(damage_bytes(random, arrays), len(arrays))
    text = json.dumps(header).encode()
    body = struct.pack("<8sII", content[:8], 1, len(text)) + text
    body += bytes(-len(body) % 64) + arrays
    return body + struct.pack("<I", zlib.crc32(body))


def _same_length(data, length):
    return data[:length].ljust(length, b"\0")


def damage_archive(random, content):
    """Damage one member of a zip archive, or the archive itself."""
    if random.random() < 0.1:
        return damage_bytes(random, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    names = [name for name in members if name.endswith(".npy")]
    if random.random() < 0.5 or not names:
        document = damage_json(random, json.loads(members["schema.json"]))
        members["schema.json"] = json.dumps(document).encode()
    else:
        name = names[random.integers(len(names))]
        members[name] = damage_npy(random, members[name])
    return _zipped(members)


def damage_workbook(random, content):
    """Damage one part of a workbook, or the archive around them."""
    if random.random() < 0.1:
        return damage_bytes(random, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = sorted(members)[random.integers(len(members))]
    return _zipped(members | {name: damage_text(random, members[name])})


def _zipped(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def damage_npy(random, content):
    """Damage the numbers of an array, its length, or the bytes of its file."""
    if random.random() < 0.3:
        return damage_bytes(random, content)
    array = np.load(io.BytesIO(content), allow_pickle=False)
    data = bytearray(array.tobytes())
    if data and random.random() < 0.8:
        place = 8 * int(random.integers(max(1, len(data) // 8)))
        number = random.choice([-1, 0, 1, 5, 2**31, 2**62, -(2**63)])
        whole = struct.pack("<q", int(number))
        data[place : place + 8] = whole if random.random() < 0.7 else struct.pack("<d", 1e300)
        data = data[: array.nbytes]
        array = np.frombuffer(bytes(data), array.dtype).reshape(array.shape)
    elif array.ndim:
        array = np.concatenate([array, array]) if random.random() < 0.5 else array[:-1]
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def damage_text(random, content):
    """Damage a text of numbers: exchange tokens, or damage its bytes."""
    if random.random() < 0.4:
        return damage_bytes(random, content)
    tokens = content.split(b" ")
    for _ in range(random.integers(1, 4)):
        place = int(random.integers(len(tokens)))
        new = str(VALUES[random.integers(len(VALUES))]).encode("utf-8", "replace")
        tokens[place] = new if random.random() < 0.7 else tokens[random.integers(len(tokens))]
    return b" ".join(tokens)


def damage_json_file(random, content):
    """Damage a JSON file: its values, or its bytes."""
    if random.random() < 0.3:
        return damage_bytes(random, content)
    return json.dumps(damage_json(random, json.loads(content))).encode()
