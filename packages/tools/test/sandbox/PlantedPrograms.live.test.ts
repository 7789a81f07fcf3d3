/**
 * A confined command plants programs where the server's PATH finds them first. Nothing that the server starts for its
 * own purposes may be one of them. The control starts the planted program by its name through the same PATH.
 */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ToolServers } from "../../src/mcp/ToolServers.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { confinedLaunch, makeDirectories, workspaceWrite } from "./Fixture.ts"
import { calls, type Response, outputsOf, play, says } from "../support/Machine.ts"

/** Writes a program that leaves a file named `ran-NAME` where no confined command can write. */
const plant = (name: string) =>
  [
    `printf '#!/bin/sh\\n: > "$(dirname "$0")/../../ran-${name}"\\nexit 1\\n'`,
    `> node_modules/.bin/${name} && chmod 755 node_modules/.bin/${name}`,
  ].join(" ")

/** Two texts so different and so long that the server computes their diff with git. */
const long = (word: string, prefix: string): string =>
  Array.from({ length: 20_000 }, (_, i) => `${prefix}${i % 2 === 0 ? `${word}${i}` : "}"}\n`).join(
    "",
  )

const shell = (script: string, id: string): Response => [
  calls("shell", { command: ["bash", "-c", script] }, id),
]

const largePatch: Response = [
  calls(
    "apply_patch",
    { input: `*** Begin Patch\n*** Add File: long.txt\n${long("b", "+")}*** End Patch\n` },
    "patch",
  ),
]

const writeLong =
  "i=0; while [ $i -lt 10000 ]; do echo a$((i*2)); echo '}'; i=$((i+1)); done > long.txt"

const inWorkspace = { sandboxPolicy: { mode: "workspace-write" }, approvalPolicy: "never" } as const

const pathFirst = (workspace: string) => `${workspace}/node_modules/.bin:${process.env["PATH"]}`

const temporary = Effect.acquireRelease(
  Effect.sync(() => Fs.realpathSync(Fs.mkdtempSync(join(tmpdir(), "colloquy-plant-")))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true })),
)

/** A workspace in which programs of these names are planted. */
const workspaceWith = Effect.fnUntraced(function* (...names: ReadonlyArray<string>) {
  const workspace = yield* temporary
  Fs.mkdirSync(join(workspace, "node_modules", ".bin"), { recursive: true })
  for (const name of names) spawnSync("bash", ["-ec", plant(name)], { cwd: workspace })
  return workspace
})

/** Starts a tool server that is configured by a program name, and returns the failure. */
const startedServer = (workspace: string) =>
  Effect.gen(function* () {
    const programs = yield* TrustedPrograms
    yield* programs.remember({ mode: "workspace-write" }, workspace)
    const limit = Duration.seconds(10)
    const transport = { _tag: "Stdio", command: "planted-server", args: [], env: {} } as const
    const servers = yield* (yield* ToolServers).open({
      s: { transport, startupTimeout: limit, toolTimeout: limit },
    })
    return (yield* servers.tools).failures.map(({ message }) => message).join()
  }).pipe(
    Effect.scoped,
    Effect.provide(
      ToolServers.layer().pipe(
        Layer.provideMerge(TrustedPrograms.layer({ environment: {} })),
        Layer.provide(NodeServices.layer),
        Layer.provideMerge(
          ConfigProvider.layer(ConfigProvider.fromUnknown({ PATH: pathFirst(workspace) })),
        ),
      ),
    ),
  )

describe("Planted programs, without protection", () => {
  it.live("a planted `git` is started by its name on PATH", () =>
    Effect.gen(function* () {
      const workspace = yield* workspaceWith("git")
      spawnSync("git", ["--version"], { env: { PATH: pathFirst(workspace) } })
      assert.isTrue(Fs.existsSync(join(workspace, "ran-git")))
    }).pipe(Effect.scoped),
  )
})

describe.skipIf(!hasBubblewrap)("Planted programs", () => {
  it.live("L15 a `git` planted on PATH by a confined command is not run for the turn diff", () =>
    Effect.gen(function* () {
      const played = yield* play({
        settings: inWorkspace,
        hiddenPaths: (workspace) => [`${workspace}/state`],
        environment: (workspace) => ({ PATH: pathFirst(workspace) }),
        responses: [
          shell(`mkdir -p node_modules/.bin && ${plant("git")} && ${writeLong}`, "plant"),
          largePatch,
          [says("done")],
        ],
      })
      const [planted] = outputsOf(played)
      assert.include(planted, '"exit_code":0')
      assert.include(Object.keys(played.files), "node_modules/.bin/git")
      assert.notInclude(Object.keys(played.files), "ran-git")
      const diff = played.messages.find((message) => message.type === "turn_diff")
      // Computed by a trusted git: the unchanged lines are not replaced.
      assert.match(diff?.type === "turn_diff" ? diff.unified_diff : "", /^ \}$/m)
    }),
  )

  it.live("L15 a Node planted in the workspace does not write a patch outside the sandbox", () =>
    Effect.gen(function* () {
      const outside = yield* temporary
      const patch = `*** Begin Patch\n*** Add File: ${outside}/new.txt\n+x\n*** End Patch\n`
      const played = yield* play({
        settings: {
          ...inWorkspace,
          sandboxPolicy: { mode: "workspace-write", exclude_slash_tmp: true },
          approvalPolicy: "on-request",
        },
        node: (workspace) => `${workspace}/node_modules/.bin/node`,
        answers: ["approved"],
        responses: [
          shell(`mkdir -p node_modules/.bin && ${plant("node")}`, "plant"),
          [calls("apply_patch", { input: patch }, "patch")],
          [says("done")],
        ],
      })
      assert.include(Object.keys(played.files), "node_modules/.bin/node")
      assert.notInclude(Object.keys(played.files), "ran-node")
      const [, output = ""] = outputsOf(played)
      // Either another Node of the machine wrote the file, or no Node could be trusted.
      if (!output.includes("no trustworthy node")) {
        assert.strictEqual(Fs.readFileSync(`${outside}/new.txt`, "utf8"), "x\n")
      }
    }).pipe(Effect.scoped),
  )
})

describe.skipIf(!hasBubblewrap)("Roots that hold programs of the system", () => {
  for (const root of ["/usr", "/usr/bin"]) {
    it.live(`L15 a workspace that holds the programs of the system is refused: ${root}`, () =>
      Effect.gen(function* () {
        const made = yield* makeDirectories()
        const policy = { ...workspaceWrite, writable_roots: [root] }
        const failure = yield* Effect.flip(confinedLaunch(made, { argv: ["true"], policy }))
        assert.match(failure.message, /lies where commands can write$/)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    )
  }
})

describe("Planted tool servers", () => {
  it.live("without the protection a configured name starts the planted program", () =>
    Effect.gen(function* () {
      const workspace = yield* workspaceWith("planted-server")
      const program = "planted-server"
      spawnSync(program, [], { env: { PATH: pathFirst(workspace) } })
      assert.isTrue(Fs.existsSync(join(workspace, "ran-planted-server")))
    }).pipe(Effect.scoped),
  )

  it.live(
    "L15 a tool server that is configured by a name is not searched where commands write",
    () =>
      Effect.gen(function* () {
        const workspace = yield* workspaceWith("planted-server")
        assert.include(yield* startedServer(workspace), "no such program")
        assert.isFalse(Fs.existsSync(join(workspace, "ran-planted-server")))
      }).pipe(Effect.scoped),
  )
})
