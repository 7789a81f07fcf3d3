/**
 * The steps of the Dockerfile without Docker: what it installs exists, the line that installs the program does so from the
 * tarball, and the server that it starts passes its health check as a user without rights and ends with SIGTERM.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { afterAll, beforeAll, describe } from "vitest"
import { pack } from "../release/Pack.ts"
import { stage } from "../release/Stage.ts"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { instructionsOf, wordsOf } from "./Dockerfile.ts"
import { run, start } from "./Program.ts"

const instructions = instructionsOf(
  readFileSync(join(import.meta.dirname, "../Dockerfile"), "utf8"),
)
const valuesOf = (name: string) =>
  instructions.filter((one) => one.name === name).map(({ value }) => value)
const valueOf = (name: string): string => valuesOf(name)[0] ?? ""

const maxMs = 120_000
const folder = mkdtempSync(join(tmpdir(), "colloquy-image-"))
const prefix = join(folder, "prefix")
const state = join(folder, "state")
/** Without the commands of the workspace, one of which is `colloquy`. */
const path = [join(prefix, "bin"), dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"]
const env = { PATH: path.join(delimiter), HOME: folder, COLLOQUY_HOME: state }

/** npm with the registry and the cache of the user who runs this. */
const npmEnv = {
  ...process.env,
  PATH: env.PATH,
  npm_config_prefix: prefix,
  npm_config_loglevel: "error",
} as Record<string, string>

/** The port of the image, which the steps use, and a free one, which the tests use in its place. */
const imagePort = valueOf("EXPOSE")
let port = 0

const withPort = (words: ReadonlyArray<string>): ReadonlyArray<string> =>
  words.map((word) => word.replaceAll(`:${imagePort}`, `:${port}`))

/** Nobody, where the tests run as root. */
const user = 65534
const isRoot = process.getuid?.() === 0
const asUser = isRoot
  ? ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--"]
  : []

const launch = ([command = "", ...args]: ReadonlyArray<string>) => ({
  command,
  args,
  cwd: folder,
  env,
})

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const { port: free } = server.address() as AddressInfo
      server.close(() => resolve(free))
    })
  })

beforeAll(async () => {
  buildIfMissing()
  chmodSync(folder, 0o755)
  mkdirSync(state)
  if (isRoot) chownSync(state, user, user)
  port = await freePort()
}, maxMs)

afterAll(() => rm(folder, { recursive: true, force: true }), maxMs)

const hasApt = spawnSync("apt-cache", ["policy", "bubblewrap"], { encoding: "utf8" })
const knowsPackages = hasApt.status === 0 && hasApt.stdout.includes("Candidate:")

describe("the Dockerfile", () => {
  it("runs as a user that it creates, with the state in a volume that belongs to that user", () => {
    const created = valuesOf("RUN").find((value) => value.includes("useradd")) ?? ""
    assert.match(valueOf("USER"), /^[1-9]\d*$/)
    assert.include(created, `--uid ${valueOf("USER")} `)
    const [volume] = wordsOf(valueOf("VOLUME"))
    assert.include(created, `${volume} `)
    assert.strictEqual(valueOf("ENV"), `COLLOQUY_HOME=${volume}`)
    assert.isAbove(
      instructions.findIndex(({ name }) => name === "USER"),
      instructions.findLastIndex(({ name }) => name === "RUN"),
    )
  })

  it.skipIf(!knowsPackages)("installs packages that Debian has", () => {
    const line = valuesOf("RUN").find((value) => value.startsWith("apt-get")) ?? ""
    const names = (/--no-install-recommends ([^&]*)/.exec(line)?.[1] ?? "").trim().split(" ")
    assert.include(names, "bubblewrap")
    for (const name of names) {
      const { stdout } = spawnSync("apt-cache", ["policy", name], { encoding: "utf8" })
      assert.match(stdout, /Candidate: \d/, name)
    }
  })

  it(
    "installs the program from its tarball",
    async () => {
      const [source = "", target = ""] = valueOf("COPY").split(" ")
      const [tarball] = await pack(
        (await stage(folder)).filter(({ manifest }) => manifest.name === "colloquy"),
        folder,
      )
      assert.strictEqual(source, "colloquy.tgz")
      const line = valuesOf("RUN").find((value) => value.startsWith("npm")) ?? ""
      const command = line
        .replaceAll(target, tarball?.path ?? "")
        // The tarball of the image is a copy; that of the repository stays.
        .replace(/ && rm .*$/, "")
      const { code, stderr } = await run(
        { command: "/bin/sh", args: ["-c", command], cwd: folder, env: npmEnv },
        maxMs,
      )
      assert.strictEqual(code, 0, stderr)
    },
    maxMs,
  )

  it.live("starts a server that passes the health check, and that SIGTERM ends", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const [init, separator, ...command] = wordsOf(valueOf("ENTRYPOINT"))
        assert.deepStrictEqual([init, separator, command], ["tini", "--", ["colloquy"]])
        const server = yield* start(
          launch([...asUser, ...command, ...withPort(wordsOf(valueOf("CMD")))]),
        )
        const health = launch([...asUser, ...withPort(wordsOf(valueOf("HEALTHCHECK")))])
        yield* Effect.promise(async () => {
          while (!server.output().includes("Listening on")) {
            await new Promise((resolve) => setTimeout(resolve, 20))
          }
        })
        const healthy = yield* Effect.promise(() => run(health, maxMs))
        assert.strictEqual(healthy.code, 0, healthy.stderr)
        yield* Effect.promise(() => server.stop("SIGTERM", 10_000))
        const ended = yield* Effect.promise(() => run(health, maxMs))
        assert.strictEqual(ended.code, 1)
      }),
    ),
  )
})
