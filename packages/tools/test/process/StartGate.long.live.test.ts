import { afterAll, assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { spawnSync } from "node:child_process"
import * as FS from "node:fs"
import * as OS from "node:os"
import * as Path from "node:path"
import type { Launch, OutputChunk } from "../../src/process/Command.ts"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { runnerLayer } from "../support/Runner.ts"
import { gatedArgv, releaseLine } from "../../src/process/StartGate.ts"

const directory = FS.mkdtempSync(Path.join(OS.tmpdir(), "gate it's "))
const file = Path.join(directory, "file")
FS.writeFileSync(file, "text")
FS.symlinkSync(directory, Path.join(directory, "link"))
FS.writeFileSync(Path.join(directory, "script"), "#!/no/such/thing\n", { mode: 0o755 })
FS.writeFileSync(Path.join(directory, "bare"), "echo bare $0 $1\n", { mode: 0o755 })

afterAll(() => FS.rmSync(directory, { recursive: true }))

const PATH = process.env["PATH"] ?? "/usr/bin:/bin"
const env = { PATH }
const options = { timeout: Duration.seconds(10), killGrace: Duration.millis(200) }

/** The result, and the chunks that were delivered meanwhile. */
const outcome = (launch: Partial<Launch> & Pick<Launch, "argv">, watched: boolean) =>
  Effect.gen(function* () {
    const events: Array<OutputChunk["stream"]> = []
    const { run } = yield* CommandRunner
    const all = { cwd: directory, env, inputs: new Map(), ...launch, diesWithParent: !watched }
    const ran = run(all, {
      ...options,
      onOutput: ({ stream }) => Effect.sync(() => void events.push(stream)),
    })
    return yield* ran.pipe(
      Effect.map(({ exit, stderr, stdout }) => ({ exit, stdout, stderr, events })),
      Effect.catch(({ message, reason }) => Effect.succeed({ reason, message, events })),
    )
  })

const print = "const fs = require('node:fs'); process.stdout.write(JSON.stringify([process.argv, "
const node = (what: string, ...words: ReadonlyArray<string>) =>
  [process.execPath, "-e", `${print}${what}]))`, "--", ...words] as const

const input = new TextEncoder().encode("go\nno\n")

const cases: Readonly<Record<string, Partial<Launch> & Pick<Launch, "argv">>> = {
  "its words": { argv: node("0", "a b", "", "'", '"', "$x", "\\", "`", "-c", "\n") },
  "its name": { argv: ["bash", "-c", "tr '\\0' ' ' </proc/$$/cmdline"] },
  "its directory": { argv: ["pwd", "-P"], cwd: `${directory}/link` },
  "a directory in its variables": {
    argv: ["env"],
    env: { PATH, PWD: "/elsewhere", OLDPWD: "/gone" },
  },
  "an environment as shells have it": {
    argv: ["env"],
    env: { PATH, PWD: directory, OLDPWD: "/", SHLVL: "3", _: "/bin/x", HOME: "it's\n$HOME", E: "" },
  },
  "variables no shell passes on": {
    argv: ["env"],
    env: { PATH, "a.b": "=c", "BASH_FUNC_f%%": "() { :; }", IFS: "q", OPTIND: "4", PPID: "7" },
  },
  "its descriptors": { argv: node("fs.readdirSync('/proc/self/fd').length") },
  "no input": { argv: node("fs.readlinkSync('/proc/self/fd/0')") },
  "its own input": { argv: ["cat"], stdin: input },
  "empty input": { argv: ["cat"], stdin: new Uint8Array() },
  "much input that is not read": { argv: ["true"], stdin: new Uint8Array(1_000_000) },
  "signals as they are": { argv: ["grep", "^Sig[BIC]", "/proc/self/status"] },
  "its own exit code": { argv: ["bash", "-c", "echo out; echo err >&2; exit 127"] },
  "a script that names no shell": { argv: ["./bare", "word"] },
  "no program": { argv: ["no-such-program"] },
  "no program of a path": { argv: ["./no-such-program"] },
  "no program behind a script": { argv: [`${directory}/script`] },
  "no directory on the way to it": { argv: [`${file}/program`] },
  "a text": { argv: [file] },
  "no directory": { argv: ["true"], cwd: `${directory}/gone` },
  "a file as its directory": { argv: ["true"], cwd: file },
  "too many words": { argv: ["echo", "x".repeat(3_000_000)] },
}

/** Sorts the lines, because their order is not guaranteed. */
const sorted = (text: string) => text.split("\n").toSorted()

describe("StartGate, a program started through it", () => {
  it.live.each(Object.keys(cases))("has %s as without the gate", (name) =>
    Effect.gen(function* () {
      const launch = cases[name] ?? { argv: ["false"] }
      const plain = yield* outcome(launch, false)
      const gated = yield* outcome(launch, true)
      if ("stdout" in plain && "stdout" in gated && launch.argv[0] === "env") {
        assert.deepStrictEqual(sorted(gated.stdout.text), sorted(plain.stdout.text))
      } else assert.deepStrictEqual(gated, plain)
    }).pipe(Effect.provide(Layer.provide(runnerLayer, NodeServices.layer))),
  )
})

const shells = ["/bin/dash", "/bin/bash", "/bin/busybox"].filter((path) => FS.existsSync(path))

describe("StartGate, with any shell", () => {
  /** Runs the gate with this shell, as on a system where `/bin/sh` is this shell. */
  const through = (
    shell: string,
    stdin: string | Uint8Array,
    variables: Record<string, string>,
  ) => {
    const gate = gatedArgv({
      argv: ["env"],
      cwd: directory,
      env: variables,
      hasInput: false,
      mark: "123456789000000001",
    })
    return spawnSync(shell, gate.slice(1), { argv0: "sh", env: variables, input: stdin })
  }

  for (const shell of shells) {
    it(`${shell} runs nothing when its input ends, and passes the environment on`, () => {
      for (const half of ["", "go"])
        assert.strictEqual(String(through(shell, half, env).stdout), "")
      for (const variables of [
        { PATH, SHLVL: "2", "a.b": "c" },
        { PATH, HOME: "/x" },
      ]) {
        const { stderr, stdout } = through(shell, releaseLine, variables)
        assert.strictEqual(String(stderr), "")
        assert.deepStrictEqual(
          sorted(String(stdout).trim()),
          Object.entries(variables)
            .map((pair) => pair.join("="))
            .toSorted(),
        )
      }
    })
  }
})
