"""The latencies of servers by the number of clients: a table, and a figure of 50, 99 and 99.9 of 100 answers.

    python compare/serve_latency.py target/release/examples/load request.json foretell=127.0.0.1:8080 onnx=127.0.0.1:8081 \
        --clients 1,8,64,512 --seconds 5 --turns 3 --out docs/serving.svg

The servers take turns, so that what else the machine does meets all of them; of the turns of a server the one with the median rate counts.
"""

import argparse
import json
import math
import subprocess
from pathlib import Path

SHARES = {"p50_ms": ("50", ""), "p99_ms": ("99", "6 3"), "p999_ms": ("99.9", "1.5 3")}
COLOURS = ["#1b6ca8", "#d1495b", "#2e8b57", "#8d5a97"]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 400, 60, 150, 40, 50


def measured(load, request, address, clients, seconds):
    """One run of the load, as it prints it."""
    done = subprocess.run([load, address, "/v1/forecast", request, str(clients), str(seconds)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def figure(runs, clients, title):
    """Latencies over clients, both by powers, a colour for each server and a dash for each share."""
    values = [run[share] for runs_of in runs.values() for run in runs_of for share in SHARES]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    first, last = math.log2(clients[0]), math.log2(clients[-1]) if clients[-1] > clients[0] else math.log2(clients[0]) + 1
    x = lambda count: LEFT + (math.log2(count) - first) / (last - first) * (WIDTH - LEFT - RIGHT)
    y = lambda ms: TOP + (high - math.log10(ms)) / (high - low) * (HEIGHT - TOP - BOTTOM)
    text = lambda at, down, words, anchor="middle": f'<text x="{at:.1f}" y="{down:.1f}" text-anchor="{anchor}">{words}</text>'
    parts = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', text(LEFT, 22, title, "start")]
    for power in range(low, high + 1):
        at = y(10**power)
        parts += [f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>', text(LEFT - 8, at + 4, f"{10.0**power:g} ms", "end")]
    parts += [text(x(count), HEIGHT - BOTTOM + 20, count) for count in clients]
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "clients"))
    for colour, (name, runs_of) in zip(COLOURS, runs.items()):
        for share, (words, dash) in SHARES.items():
            points = " ".join(f"{x(run['clients']):.1f},{y(run[share]):.1f}" for run in runs_of)
            parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>')
    at = TOP + 10
    for colour, name in zip(COLOURS, runs):
        parts += [f'<path d="M{WIDTH - RIGHT + 15} {at}h24" stroke="{colour}" stroke-width="2"/>', text(WIDTH - RIGHT + 46, at + 4, name, "start")]
        at += 20
    for words, dash in SHARES.values():
        line = f'<path d="M{WIDTH - RIGHT + 15} {at}h24" stroke="#555" stroke-width="2" stroke-dasharray="{dash}"/>'
        parts += [line, text(WIDTH - RIGHT + 46, at + 4, f"{words} of 100", "start")]
        at += 20
    style = 'font-family="sans-serif" font-size="12" fill="#333"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {style}>{"".join(parts)}</svg>\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("load")
    parser.add_argument("request")
    parser.add_argument("servers", nargs="+", metavar="NAME=ADDRESS")
    parser.add_argument("--clients", default="1,8,64,512")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--title", default="Latency of one forecast over HTTP")
    parser.add_argument("--out")
    given = parser.parse_args()
    servers = dict(server.split("=", 1) for server in given.servers)
    clients = [int(count) for count in given.clients.split(",")]
    runs = {name: [] for name in servers}
    print("| clients | server | requests a second | p50, ms | p99, ms | p99.9, ms | others |\n|---|---|---|---|---|---|---|")
    for count in clients:
        turns = {name: [] for name in servers}
        for _ in range(given.turns):
            for name, address in servers.items():
                turns[name].append(measured(given.load, given.request, address, count, given.seconds))
        for name, of_server in turns.items():
            run = sorted(of_server, key=lambda run: run["per_second"])[len(of_server) // 2]
            runs[name].append(run)
            figures = " | ".join(f"{run[share]:.2f}" for share in SHARES)
            print(f"| {count} | {name} | {run['per_second']} | {figures} | {run['others']} |", flush=True)
    if given.out:
        Path(given.out).write_text(figure(runs, clients, given.title))


if __name__ == "__main__":
    main()
