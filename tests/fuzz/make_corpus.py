#!/usr/bin/env python3
"""Writes the first inputs of every fuzz target into tests/fuzz/corpus/SURFACE/.

They are small files of the kind that each surface reads, made from the samples and files of the repository or written
out here, so that fuzzing begins inside the format and not in front of it. What fuzzing adds lies beside them: inputs
that reach more code (grown-*), and inputs that once broke something (regression-*). Run it from the root; it replaces
the files that it wrote before and no others. The results file needs build/release/simcli.
"""

import gzip
import json
import pathlib
import re
import sqlite3
import struct
import subprocess
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests/fuzz/corpus"
FILES = ROOT / "tests/experiments/transcripts/files"

PRESENTMON = {
    "1": "Application,ProcessID,SwapChainAddress,Runtime,SyncInterval,PresentFlags,Dropped,TimeInSeconds,"
         "msInPresentAPI,msBetweenPresents,msUntilRenderComplete,msUntilDisplayed,msUntilRenderStart,msGPUActive,"
         "QPCTime\n"
         "game.exe,1268,0x0A,DXGI,1,0,0,0.3490030,0.0893,16.4754,0.0673,16.4296,-15.4471,1.0752,2076674276\n",
    "2": "Application,ProcessID,SwapChainAddress,PresentRuntime,FrameType,CPUStartQPC,FrameTime,CPUBusy,CPUWait,"
         "GPULatency,GPUTime,GPUBusy,GPUWait,DisplayedTime\n"
         "game.exe,1268,0xA,DXGI,Application,2076511276,16.3893,16.3000,0.0893,0.8529,15.5144,1.0752,14.4392,33.3323\n",
}
CAPFRAMEX = {
    "json": '{"Hash":"00","Info":{"GPU":"RTX","ProcessName":"re2.exe"},"Runs":[{"PresentMonRuntime":"DXGI",'
            '"CaptureData":{"TimeInSeconds":[0.0,0.0165],"MsBetweenPresents":[16.4,16.5],"MsInPresentAPI":[1.1,1.2],'
            '"MsUntilRenderComplete":[0,4.5],"Dropped":[false,true],"GpuActive":[8.25,8.5]},'
            '"SensorData2":{"gpu-load":{"Values":[1,2]}}}]}',
    "csv": "//GameName=re2.exe\r\n//GPU=RTX\r\nApplication,ProcessID,SwapChainAddress,Dropped,TimeInSeconds,"
           "MsBetweenPresents,MsUntilRenderComplete\r\nre2.exe,1936,0x7,1,0,3.387,5.437\r\n",
}
MANGOHUD = {
    "full": "os,cpu,gpu,ram,kernel,driver,cpuscheduler\nArch,AMD,Radeon,3214,6.9,,performance\nfps,frametime,cpu_load,"
            "cpu_power,gpu_load,cpu_temp,gpu_temp,gpu_core_clock,gpu_mem_clock,gpu_vram_used,gpu_power,ram_used,"
            "swap_used,process_rss,cpu_mhz,elapsed\n49.9594,20.0163,3,0,90,44,0,950,0,0,0,10,2,0,800,39991331\n"
            "49.9079,20.0369,3,0,90,44,0,950,0,0,0,10,2,0,800,60029893\n",
    "old": "os,cpu,gpu,ram,kernel,driver\nx,y,z,1,2,3\nfps,frametime,cpu_load,gpu_load,cpu_temp,gpu_temp,"
           "gpu_core_clock,gpu_mem_clock,gpu_vram_used,gpu_power,ram_used,elapsed\n"
           "60,16667,1,2,3,4,5,6,7,8,9,16667000\n60,16666,1,2,3,4,5,6,7,8,9,33333000\n",
}
AFTERBURNER = {
    "log": "00, 24-10-2025 18:04:41, Hardware monitoring log v1.6 \n01, 24-10-2025 18:04:41, Radeon RX 580 Series\n"
           "02, 24-10-2025 18:04:41, GPU usage           ,Framerate           ,Frametime           \n"
           "03, 24-10-2025 18:04:41,0,%,0,100,10\n80, 24-10-2025 18:04:42,80,54,19.052\n"
           "80, 24-10-2025 18:04:43,90,52.7,22.688\n",
}
ORION = {
    "rows": "Name,Profile,Memory_footprint,SM_usage,Duration\nConv,1,0,98,100480\nvoid f<int, 4>(a, b),-1,0,2,3232\n",
}
XLA = {
    "steps": '{"displayTimeUnit":"ns","traceEvents":['
             '{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},'
             '{"ph":"M","pid":1,"tid":14,"name":"thread_name","args":{"name":"Stream #14(Compute)"}},'
             '{"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},'
             '{"ph":"X","pid":701,"tid":3,"ts":1,"dur":9,"name":"train","args":{"step_num":"0"}},'
             '{"ph":"X","pid":701,"tid":3,"ts":2,"dur":5,"name":"cuLaunchKernel","args":{"correlation_id":"7"}},'
             '{"ph":"X","pid":1,"tid":14,"ts":30.5,"dur":63.18,"name":"gemm","args":{"correlation_id":"7",'
             '"kernel_details":"regs:154 static_shared:0 dynamic_shared:96 grid:128,1,1 block:256,1,1"}},'
             '{"ph":"X","pid":1,"tid":14,"ts":99,"dur":2,"name":"MemcpyD2H","args":{"correlation_id":"8",'
             '"memcpy_details":"kind_src:device kind_dst:pageable size:4 dest:0 async:1"}},{}]}',
}
SET_OPTIONS = {
    "paths": "clients.game.pacing=30fps\npolicies.pilotfish.margin=1ms\nhorizon=2s\nseeds=[1, 2]\n",
    "indices": "policies[1].pilotfish.margin=0ns\nclients[0].quality=[{level: high, cost: 1.0}]\nclients.load.repeat=3",
    "wrong": "clients[7].x=1\nclients.nobody.pacing=1\n=\na..b=c\nname={a: [1, {b: c}]}\n",
}
NSYS = """
CREATE TABLE StringIds(id INTEGER, value TEXT);
INSERT INTO StringIds VALUES (1,'gemm<4>'),(2,'cudaLaunchKernel_v7000'),(3,'cudaStreamSynchronize_v3020'),(5,'step 1');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start,end,deviceId,contextId,streamId,correlationId,globalPid,demangledName,
  gridX,gridY,gridZ,blockX,blockY,blockZ,registersPerThread,staticSharedMemory,dynamicSharedMemory,graphNodeId);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2000,2500,0,1,7,11,281477392400384,1,8,4,2,32,2,1,40,16,1024,NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start,end,globalTid,correlationId,nameId);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000,1100,281477392400531,11,2),(1200,2600,281477392400531,12,3);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start,end,deviceId,contextId,streamId,correlationId,globalPid,bytes,copyKind);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (2600,2700,0,1,7,13,281477392400384,4096,1);
CREATE TABLE NVTX_EVENTS(start,end,eventType,text,textId,globalTid);
INSERT INTO NVTX_EVENTS VALUES (900,2900,59,'step',NULL,281477392400531);
CREATE TABLE TARGET_INFO_CUDA_STREAM(streamId,processId,contextId,priority);
INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (7,144,1,4294967291);
CREATE TABLE META_DATA_EXPORT(name,value);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION','3.24.14');
"""


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def chunk(kind, rows, payload):
    """A chunk as chunk_input.h describes one."""
    return struct.pack(">BBH", kind, rows, len(payload)) + payload


def described(file):
    """A native file in the form of chunk_input.h: its chunks without checksums. Payloads must not be compressed."""
    at, out = 0, b"\xC5"
    while at < len(file):
        _, at = read_varint(file, at + 1)
        length, at = read_varint(file, at + 10)
        header, at = file[at:at + length], at + length + 5
        fields, h = {}, 0
        while h < len(header):
            tag, h = read_varint(header, h)
            if tag & 7 == 5:
                h += 4
            else:
                fields[tag >> 3], h = read_varint(header, h)
        length, at = read_varint(file, at + 1)
        if fields.get(3, 0) == 0:
            out += chunk(fields[2], fields.get(7, 0) & 0xFF, file[at:at + length])
        at += length
    return out


def record(kind, layout, *values, extra=b""):
    body = struct.pack("<" + layout, *values)
    size = 8 + len(body) + len(extra)
    padding = -size % 8
    return struct.pack("<HHI", kind, size + padding, 0) + body + extra + bytes(padding)


def records(*packed):
    data = b"".join(packed)
    return b"\xC5" + chunk(32, 0, b"\x0A" + varint(len(data)) + data)


def costly_name():
    """A mangled name whose type is the one before it twice, 25 times over: demangled, it has gigabytes."""
    number = lambda at: "" if at == 0 else "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[at - 1]  # noqa: E731
    return ("_Z1f1A1BIS_S_E" + "".join(f"S0_IS{number(at)}_S{number(at)}_E" for at in range(2, 27))).encode()


def parts():
    """Parts of a process with one kernel, and of one with one frame. Numbers are those of part_record.h."""
    header = (ROOT / "traces/parts/part_record.h").read_text()
    listed = header[header.index("enum class RecordType"):].split("};")[0]
    types = {name: int(number) for name, number in re.findall(r"(k\w+) = (\d+)", listed)}

    def process(source):
        return record(types["kProcess"], "4IQqqII", source, 2, 100, 1, 1, 1000, 2000, 1, 130000)

    name = record(types["kText"], "II", 1, 7, extra=b"program")
    kernel_name = record(types["kText"], "II", 2, 4, extra=b"gemm")
    device = record(types["kDevice"], "IIQ4I16s", 0, 2, 1 << 34, 80, 2048, 65536, 98304, bytes(16))
    call = record(types["kCall"], "qqIIHHI", 1500, 1600, 100, 5, 0, 0, 211)
    kernel = record(types["kKernel"], "qqQ14I", 2000, 2500, 0, 5, 0, 1, 7, 2, 8, 1, 1, 128, 1, 1, 32, 0, 0)
    copy = record(types["kCopy"], "qqQQ6I", 2600, 2700, 4096, 0, 6, 0, 1, 7, 1, 1)
    swapchain = record(types["kSwapchain"], "6I", 1, 2, 640, 480, 0, 0)
    visit = record(types["kVisit"], "5qQ4I", 1000, 1100, 1200, 1900, 5, 1, 100, 1, 0, 1)
    frame = record(types["kFrame"], "3qQ4I", 2000, 2010, 3, 1, 100, 1, 1, 0)
    end = record(types["kEnd"], "q4I", 9000, 1, 0, 0, 0)
    yield "cuda", records(process(1), name, kernel_name, device, call, kernel, copy, end)
    yield "frames", records(process(2), name, kernel_name, swapchain, visit, frame, end)
    costly = record(types["kText"], "II", 2, len(costly_name()), extra=costly_name())
    yield "costly_name", records(process(1), name, costly, device, call, kernel, end)


def activities():
    """A record of CUPTI of each kind, zero but for kind and times."""
    for kind, size in {1: 96, 2: 96, 4: 48, 5: 48, 8: 160, 9: 32, 10: 168, 17: 48, 22: 112, 37: 32, 57: 32}.items():
        yield f"kind{kind}", struct.pack("<I", kind) + bytes(size - 4)
    yield "kernel", struct.pack("<IBBHIIQQQIII", 10, 0, 0, 40, 0, 0, 1000, 1300, 1300, 1, 2, 7) + bytes(112)


def kineto():
    """The first events of a capture, and two by hand."""
    whole = json.loads(gzip.decompress((ROOT / "traces/samples/encoder_infer_bs1.kineto.json.gz").read_bytes()))
    events = [event for event in whole["traceEvents"] if event.get("cat") in ("kernel", "cuda_runtime", "gpu_memcpy")]
    head = {key: value for key, value in whole.items() if key in ("schemaVersion", "deviceProperties")}
    yield "sample", json.dumps({**head, "traceEvents": events[:6]}).encode()
    yield "kernel", b'{"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1.5,"dur":3,' \
        b'"args":{"device":0,"context":1,"stream":7,"correlation":28,"grid":[64,2,1],"block":[32,4,1]}}]}'


def database(script):
    """The bytes of a SQLite file with small pages."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "x.sqlite")
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA page_size = 512")
            connection.executescript(script)
        connection.close()
        return path.read_bytes()


def results():
    """A results file, its pages made small."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "x.sqlite")
        subprocess.run([ROOT / "build/release/simcli", "run", FILES / "tiny.yaml", "-o", path, "--set", "horizon=20ms",
                        "--set", "warmup=0ns"], check=True, capture_output=True)
        connection = sqlite3.connect(path, isolation_level=None)
        connection.executescript("DELETE FROM frames WHERE number > 1; DELETE FROM decisions WHERE seq > 1;"
                                 "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM;")
        connection.close()
        return path.read_bytes()


def rows():
    """Rows as results_fuzz.cpp describes them: two runs of one scenario and seed, each with a few metrics."""
    words = re.findall(r'"([^"]*)"',
                       (ROOT / "tests/fuzz/results_fuzz.cpp").read_text().split("kWords{")[1].split("};")[0])
    word = lambda text: bytes([words.index(text) * 8 + 5])  # noqa: E731
    real = lambda number: bytes([3, number])  # noqa: E731
    integer = lambda number: struct.pack(">BI", 1, number)  # noqa: E731
    out = b"\xC5"
    for name, policy in (("a", "passthrough"), ("b", "exclusive")):
        out += b"\0" + word(name) + word("pair") * 2 + word(policy) + word("") + integer(1) + word("simulation")
        out += word("a")
        out += word("device") + word("") + integer(10**9) + integer(0) + real(2) + integer(9) + b"\0" + word("") + b"\0"
        for client, metric, unit in (("game", "fps_1low", "fps"), ("load", "rate", "jobs/s"),
                                     ("device", "harvest_ratio", "ratio")):
            out += b"\1" + word(name) + word(client) + word(metric) + real(3) + word(unit)
    return out


def channels():
    """What channel_fuzz.cpp writes as a gate would: launches, their ends, frames, a name; and words anywhere."""
    turn = bytes([0, 1])  # the policy opens the gate
    launch = bytes([0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1]) + turn
    end = lambda number: bytes([1, 1, number, 1, 1, 1, 0, 1, 1]) + turn  # noqa: E731
    frame = bytes([2, 1, 1, 1, 1, 1, 1, 1]) + turn
    name = lambda text, at: bytes([3, len(text)]) + text + struct.pack(">I3B", at, 1, 1, 1) + turn  # noqa: E731
    yield "launches", b"".join(launch + end(number) for number in range(20))
    yield "frames", frame * 30
    yield "names", (name(b"name", 0) + launch) * 5
    pieces = [costly_name()[at:at + 31] for at in range(0, len(costly_name()), 31)]
    yield "costly_name", b"".join(name(piece, 31 * at) for at, piece in enumerate(pieces)) + launch
    yield "anywhere", b"".join(bytes([4]) + struct.pack(">QI", 2**64 - 1, 64 * i) + bytes([1]) for i in range(200))


def wrapped(text):
    deflate = zlib.compressobj(9, zlib.DEFLATED, 31)
    yield "gzip", deflate.compress(text) + deflate.flush()
    yield "gzip_twice", gzip.compress(text, mtime=0) + gzip.compress(text, mtime=0)
    yield "gzip_bomb", gzip.compress(bytes(8 << 20), mtime=0)
    block = lambda size, kind, last: struct.pack("<I", size << 3 | kind << 1 | last)[:3]  # noqa: E731
    yield "zstd", struct.pack("<IBB", 0xFD2FB528, 0x20, len(text)) + block(len(text), 0, 1) + text
    repeated = [block(128 << 10, 1, is_last) + b"x" for is_last in [0] * 63 + [1]]
    yield "zstd_bomb", struct.pack("<IBB", 0xFD2FB528, 0x00, 0x58) + b"".join(repeated)
    yield "plain", text


def seeds():
    """(surface, name, bytes) of every seed."""
    for file in sorted(FILES.glob("*.corun")):
        yield "native", file.stem, file.read_bytes()
        yield "native", file.stem + "_described", described(file.read_bytes())
    for surface, texts in {"presentmon": PRESENTMON, "capframex": CAPFRAMEX, "mangohud": MANGOHUD,
                           "afterburner": AFTERBURNER, "orion": ORION, "xla": XLA, "set_option": SET_OPTIONS}.items():
        for name, text in texts.items():
            yield surface, name, text.encode()
    yield from (("part", *part) for part in parts())
    yield from (("cupti", *activity) for activity in activities())
    yield from (("kineto", *trace) for trace in kineto())
    yield from (("wrapper", *stream) for stream in wrapped(b"the quick brown fox jumps over the lazy dog " * 4))
    for file in [*sorted(FILES.glob("*.yaml")), ROOT / "experiments/quickstart.yaml", ROOT / "experiments/rivals.yaml",
                 *sorted((ROOT / "experiments/vgpu").glob("*.yaml"))]:
        yield "experiment", file.stem, file.read_bytes()
    for file in sorted((ROOT / "experiments/devices").glob("*.yaml")):
        yield "device_file", file.stem, file.read_bytes()
    yield "nsys", "tables", database(NSYS)
    yield "results", "tiny", results()
    yield "results", "rows", rows()
    for kind in range(4):
        yield "results", f"computed{kind}", bytes([0xC6, kind]) + rows()[1:]
    for name, text in channels():
        yield "channel", name, text
    for sharing in range(3):
        yield "action", f"sharing{sharing}", bytes([sharing, 0, 0, 0, 0, 4, 0]) + bytes(range(200))


def main():
    for old in CORPUS.glob("*/seed-*"):
        old.unlink()
    for surface, name, content in seeds():
        folder = CORPUS / surface
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"seed-{name}").write_bytes(content)


if __name__ == "__main__":
    main()
