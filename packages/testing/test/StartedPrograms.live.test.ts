/**
 * Every place in the source that starts a program is in a checked-in list that states which program it is and what
 * protects it. The protections:
 *
 * - resolved: a path from `TrustedPrograms`, outside every directory that commands can write to;
 * - confined: it runs in the sandbox;
 * - fixed: a path of the system, which no writable root may hold (`systemProgramIn`);
 * - policy: the command of the model or of a client, which the policy confines or a person allows;
 * - operator: what the person configured who runs the program, or that program itself;
 * - mechanism: it starts what others in the list give it;
 * - development: not part of what is published.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import { read, scan } from "./SourceTree.ts"

const root = `${import.meta.dirname}/../../..`

interface Listed {
  readonly file: string
  readonly starts: ReadonlyArray<string>
  readonly program: string
  readonly protection: string
}

const listed: ReadonlyArray<Listed> = JSON.parse(
  Fs.readFileSync(`${import.meta.dirname}/fixtures/started-programs.json`, "utf8"),
)

/** Modules that start programs or threads, and calls that do; one of them is of a library. */
const modules =
  /\bchild_process\b|\bworker_threads\b|\bnode:cluster\b|\bprocess\.(?:execve|binding)\b/
const always =
  /\bnode:child_process\b|\bnode:worker_threads\b|\bnode:cluster\b|\bprocess\.(?:execve|binding)\b|\bChildProcess\.(?:make|exec|spawn|string|lines)[(`]|\.spawn(?:Sync)?\(|\bspawner\.(?:exitCode|lines|string|stream\w*)\(|\bwrapCommandWithSandboxMacOS\(|\brunner\.run\(|\bServerProgram\.run\(/g
/** Names of `node:child_process`, which mean something else in other modules. */
const ofNode = /(?<![.\w])(?:spawn|spawnSync|exec|execSync|execFile|execFileSync|fork)\(/g

/** What in this source starts programs, in order. */
const startsIn = (source: string): ReadonlyArray<string> => {
  // The formatter puts a call of a chain on a separate line.
  const code = scan(source).code.replaceAll(/\s+(?=\.\w)/g, "")
  const found = [...code.matchAll(always), ...(modules.test(code) ? code.matchAll(ofNode) : [])]
  return found.toSorted((a, b) => a.index - b.index).map(([text]) => text)
}

/** The sources, and the scripts that run before them. */
const sources = [
  ...read(Fs).modules,
  ...["bin", "install"].flatMap((folder) =>
    Fs.readdirSync(`${root}/packages/cli/${folder}`).map((name) => {
      const file = `packages/cli/${folder}/${name}`
      return { file, source: Fs.readFileSync(`${root}/${file}`, "utf8") }
    }),
  ),
]

/** Programs that are named by a fixed path, by the modules that name them. */
const fixedPaths = {
  "packages/tools/src/process/StartGate.ts": ["/bin/sh", "/usr/bin/env"],
  "packages/tools/src/process/Watchdog.ts": ["/bin/sh"],
  "packages/tools/src/programs/TrustedPrograms.ts": [
    "/bin/bash",
    "/bin/grep",
    "/bin/rmdir",
    "/bin/sh",
    "/usr/bin/env",
  ],
  // In the sandbox.
  "packages/tools/src/sandbox/linux/Bubblewrap.ts": ["/usr/bin/env"],
  "packages/tools/src/sandbox/linux/BubblewrapProbe.ts": ["/bin/true"],
  "packages/tools/src/sandbox/linux/Landlock.ts": ["/bin/sh"],
  "packages/tools/src/sandbox/macos/Seatbelt.ts": ["/bin/bash", "/usr/bin/sandbox-exec"],
  "packages/tools/src/sandbox/macos/SeatbeltArgv.ts": ["/bin/bash", "/usr/bin/sandbox-exec"],
}

describe("StartedPrograms", () => {
  it("L15 every place in the source that starts a program is listed with its protection", () => {
    const found = sources
      .map(({ file, source }) => ({ file, starts: startsIn(source) }))
      .filter(({ starts }) => starts.length > 0)
      .toSorted((a, b) => (a.file < b.file ? -1 : 1))
    const expected = listed.map(({ file, starts }) => ({ file, starts }))
    assert.deepStrictEqual(found, expected)
  })

  it("every entry of the list names a program and one of the protections", () => {
    const kinds = /^(?:resolved|confined|fixed|policy|operator|mechanism|development)(?:,|$)/
    for (const { file, program, protection } of listed) {
      assert.match(protection, kinds, file)
      assert.isAbove(program.length, 0, file)
    }
  })

  it("L15 every program that is named by a fixed path is one that no writable root may hold", () => {
    const found = read(Fs)
      .modules.filter(({ room }) => room !== "bench")
      .flatMap(({ file, source }) => {
        const paths = scan(source).strings.filter((text) =>
          /^\/(?:usr\/)?s?bin\/[\w-]+$/.test(text),
        )
        return paths.length === 0 ? [] : [[file, [...new Set(paths)].toSorted()] as const]
      })
    assert.deepStrictEqual(Object.fromEntries(found), fixedPaths)
  })

  const ways: ReadonlyArray<readonly [source: string, starts: ReadonlyArray<string>]> = [
    ['import { fork } from "node:child_process"\nfork("x")', ["node:child_process", "fork("]],
    ['const { exec } = await import("node:child_process")', ["node:child_process"]],
    ['import { Worker } from "node:worker_threads"', ["node:worker_threads"]],
    ["yield* spawner.spawn(command)", [".spawn("]],
    [
      "ChildProcess.make`git status`; ChildProcess.make(program, [])",
      ["ChildProcess.make`", "ChildProcess.make("],
    ],
    ["parts.runner.run(launch, options)", ["runner.run("]],
    ["parts.runner\n  .run(launch, options)\n  .pipe(x)", ["runner.run("]],
    ["// runner.run(launch)\nfork(effect)", []],
  ]
  for (const [source, starts] of ways) {
    it(`sees what starts a program in: ${source.split("\n", 1)[0]}`, () => {
      assert.deepStrictEqual(startsIn(source), starts)
    })
  }
})
