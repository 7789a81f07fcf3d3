import { missingPostgres } from "@colloquy/testing/PostgresServer"
import { assert, describe, it } from "@effect/vitest"
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Report } from "../src/user/Figures.ts"
import * as Text from "../src/user/Text.ts"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))

const floor = fileURLToPath(new URL("../src/peers/Floor.mjs", import.meta.url))

/** Without it the benchmark says so in a separate line. */
const hasBubblewrap = spawnSync("bwrap", ["--version"]).status === 0

/** A benchmark takes as long as the machine needs, in milliseconds; the default is for a quiet one. */
const timeout = 180_000

/** Without it the memory of processes is not known. */
const hasProc = existsSync("/proc/self/status")

const bench = (...args: ReadonlyArray<string>) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: "utf8",
  })
  return { status, stdout, stderr }
}

describe("npm run bench", () => {
  it.each<[string, Array<string>]>([
    [
      "app-server",
      [
        "getUserAgent, 64 in flight",
        "getConversation, 64 in flight",
        "events to 1 listener",
        "events to 8 listeners",
        "events to 64 listeners",
        "deltas in v1",
        "deltas in v2",
        "cost of a delta in v2 beside v1",
      ],
    ],
    [
      "cluster",
      missingPostgres() === undefined
        ? [
            "turns, 1 server with files",
            "turns, 2 servers with files",
            "turns, 1 node",
            "turns, 2 nodes, any of them asked",
            "turns, 2 nodes, the one asked that has the conversation",
            "turns, 3 nodes, any of them asked",
            "turns, 2 servers that share only the database",
            "first turns after 6 seconds, 1 server with files",
            "first turns after 6 seconds, 2 servers with files",
            "first turns after 6 seconds, 1 node",
            "first turns after 6 seconds, 2 nodes, any of them asked",
            "first turns after 6 seconds, 2 nodes, the one asked that has the conversation",
            "first turns after 6 seconds, 3 nodes, any of them asked",
            "first turns after 6 seconds, 2 servers that share only the database",
            "turns, 1 server with files, offline model",
            "turns, 2 servers with files, offline model",
            "turns, 1 node, offline model",
            "turns, 2 nodes, any of them asked, offline model",
            "events appended, the store alone, 4 at a time",
            "a conversation in the database",
            "from the kill of a node to the end of the next turn",
            "from the signal to a node to the end of the next turn",
          ]
        : ["PostgreSQL"],
    ],
    [
      "soak",
      [
        "durable events received, none lost and none twice",
        "connections of those listeners",
        "growth of the peak of memory, without kills",
      ],
    ],
    [
      "stdio",
      [
        "start to the answer to initialize",
        "the same with a config.toml",
        "resident memory after initialize",
        "warm codex-reply turn",
        "of that ours",
        "first turn of a process",
        "delta events, 100 per write of the provider",
        "deltas, all in one write of the provider",
        "ping, 64 in flight",
      ],
    ],
    [
      "http",
      [
        "tools/call over HTTP, 64 connections",
        "processor time of one of them",
        "processor time without the protocol",
        "one of 64 at once",
        "one at a time",
        "first event of a call",
        "an idle session",
      ],
    ],
    [
      "mcp",
      [
        "start to the answer to initialize, built",
        ...(hasProc ? ["resident memory then"] : []),
        "tools/call, one at a time",
        "tools/call, 64 in flight",
        ...(hasProc
          ? [
              "processor time of one of them",
              "processor time of the client",
              "resident memory after those calls",
            ]
          : []),
        "notifications of one call, one by one",
        "the same, 64 at once",
        "tools/call of the whole server without a handshake",
      ],
    ],
    [
      "conversations",
      [
        "1 conversations of one turn, files",
        "1 conversations of one turn, memory",
        "10 conversations of one turn, memory",
        "1 conversations that are loaded for each turn, 1 hours of virtual time",
      ],
    ],
    [
      "core",
      [
        "idle conversation, one listener, of 20",
        "idle conversation, one listener, of 50",
        "resident memory with 50 of them",
        "events to 0 listeners",
        "events to 1 listener",
        "events to 4 listeners",
        "events to 64 listeners",
        "attach to a log of 1,000 events, replayed",
        "create and remove 20 conversations",
        "create and remove 50 conversations",
      ],
    ],
    [
      "exec",
      [
        "command without a sandbox",
        "the same without a sandbox, 2 at a time",
        "command under the watchdog",
        "the same under the watchdog, 2 at a time",
        ...(hasBubblewrap
          ? ["command in the sandbox", "the same in the sandbox, 2 at a time"]
          : ["command in the sandbox"]),
        "turn with one command in it",
        "output of 0.1 MB",
        "`yes` until its timeout of 0.1 s",
        "patch of 10 hunks, one file",
        "patch of 10 hunks, a file each",
        "turn_diff of 100 lines, 1 changed",
        "turn_diff of 100 lines, 10 changed",
        "turn_diff of 100 lines, all changed",
      ],
    ],
    [
      "store",
      [
        "events appended, 100 at a time",
        "the same, each batch synced",
        "events appended one at a time",
        "the same, each synced",
        "an event on the disk",
        "resume of 100 events",
        "first list of a process, of 20",
        "all 20 in one page",
        "rebuilding the index",
        "SQLite: events appended, 100 at a time",
        "SQLite: an event on the disk",
        "SQLite: events appended, one at a time",
      ],
    ],
  ])(
    "%s prints the machine and one line per figure, whatever the figures are",
    { timeout },
    (name, figures) => {
      const { status, stdout, stderr } = bench(name, "--quick")
      assert.deepStrictEqual({ status, stderr }, { status: 0, stderr: "" })
      const [machine, blank, titles, rule, ...rows] = stdout.trimEnd().split("\n")
      assert.match(machine ?? "", /^Node v\d+\.\d+\.\d+, \w+ \w+, \d+ cores, load \d+\.\d$/)
      assert.strictEqual(blank, "")
      assert.match(titles ?? "", /^measured +figure +beside +aim +met$/)
      assert.match(rule ?? "", /^-+( {2}-+){4}$/)
      assert.deepStrictEqual(
        // PostgreSQL is measured only where it is installed.
        rows
          .map((row) => row.split("  ", 1)[0])
          .filter((title) => title?.startsWith("PostgreSQL: ") === false),
        figures,
      )
      assert.notInclude(stdout, "NaN")
    },
  )

  it(
    "user prints a line per figure with a column per server, and stores the same as JSON",
    { timeout },
    () => {
      const directory = mkdtempSync(join(tmpdir(), "colloquy-bench-"))
      const json = join(directory, "user.json")
      const peer = `${process.execPath} ${floor}`
      const { status, stdout, stderr } = bench("user", "--quick", "--json", json, "--peer", peer)
      assert.deepStrictEqual({ status, stderr }, { status: 0, stderr: "" })
      const report = JSON.parse(readFileSync(json, "utf8")) as Report
      rmSync(directory, { recursive: true })
      assert.strictEqual(stdout, `${Text.render(report)}\n`)
      assert.deepStrictEqual(report.contenders, ["plain Node", "ours", "floor"])
      for (const { key, of } of report.figures) {
        const measured = key === "growth" ? ["ours"] : ["plain Node", "ours", "floor"]
        assert.deepStrictEqual(Object.keys(of), measured, key)
      }
      assert.strictEqual(report.phases.length, 7)
      for (const { fromMs, title, untilMs } of report.phases) assert.isBelow(fromMs, untilMs, title)
      const unmerged = report.figures.find(({ key }) => key === "unmerged")?.of["floor"]
      assert.deepStrictEqual(unmerged, { count: 1, median: 20, p10: 20, p90: 20 })
    },
  )

  it("a server that does not answer is an error with its command line", () => {
    const { status, stderr } = bench("user", "--quick", "--peer", "/bin/false --now")
    assert.strictEqual(status, 1)
    assert.include(stderr, "`/bin/false --now` ended before it answered")
  })

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "says that %s has ended it",
    { timeout },
    async (signal) => {
      const child = spawn(process.execPath, [main, "core"], { stdio: ["ignore", "pipe", "pipe"] })
      let stderr = ""
      child.stderr.setEncoding("utf8").on("data", (part: string) => (stderr += part))
      // The line of the machine is printed before anything is measured.
      child.stdout.once("data", () => child.kill(signal))
      const status = await new Promise((resolve) => child.once("close", resolve))
      assert.deepStrictEqual(
        { status, stderr },
        { status: 130, stderr: "bench: interrupted before it was done\n" },
      )
    },
  )

  it("without a name lists the benchmarks", () => {
    const { status, stdout, stderr } = bench()
    assert.deepStrictEqual({ status, stderr }, { status: 0, stderr: "" })
    assert.match(
      stdout,
      /^ {2}app-server {5}\S.*\n {2}cluster {8}\S.*\n {2}conversations {2}\S.*\n {2}core {11}\S.*\n {2}exec {11}\S.*\n {2}http {11}\S.*\n {2}mcp {12}\S.*\n {2}soak {11}\S.*\n {2}stdio {10}\S.*\n {2}store {10}\S.*\n {2}user {11}\S/m,
    )
  })

  it("an unknown name is answered with the nearest and exit code 2", () => {
    assert.deepStrictEqual(bench("stdoi"), {
      status: 2,
      stdout: "",
      stderr:
        "bench: unknown benchmark `stdoi`, did you mean `stdio`?; `npm run bench` shows what there is\n",
    })
  })

  it("the core has no other build to measure", () => {
    assert.deepStrictEqual(bench("core", "--bin", "/x.mjs"), {
      status: 2,
      stdout: "",
      stderr:
        "bench: `--bin` is for `app-server`, `cluster`, `mcp`, `soak`, `stdio` and `user`: core is measured from its source\n",
    })
  })

  it("a build that is not there is told with what makes it", () => {
    assert.deepStrictEqual(bench("stdio", "--bin", "/nowhere/colloquy.mjs"), {
      status: 1,
      stdout: "",
      stderr: "bench: /nowhere/colloquy.mjs is missing, run `npm run build`\n",
    })
  })
})
