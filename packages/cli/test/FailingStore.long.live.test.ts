/** Tests that the built program reports a full disk and missing file descriptors, and that it recovers from both. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import * as FS from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type App, start } from "./app/App.ts"
import { ending, listening, made, say, shell } from "./app/Row.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"

beforeAll(buildIfMissing, 60_000)

const run = (command: string, ...args: ReadonlyArray<string>): boolean =>
  spawnSync(command, args).status === 0

const mount = (folder: string) => run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder)

const canMount = (() => {
  if (process.platform !== "linux") return false
  const folder = FS.mkdtempSync(join(tmpdir(), "colloquy-disk-"))
  const can = mount(folder)
  if (can) run("umount", folder)
  FS.rmdirSync(folder)
  return can
})()

/** A state directory on a separate disk. */
const disk = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = FS.mkdtempSync(join(tmpdir(), "colloquy-disk-"))
    mount(folder)
    return folder
  }),
  (folder) =>
    Effect.sync(() => {
      run("umount", "-l", folder)
      FS.rmdirSync(folder)
    }),
)

const script = [[shell("echo started; sleep 2")], [{ text: "Done." }], [{ text: "Later." }]]

const configure = (folder: string) => {
  const path = join(folder, "script.json")
  FS.writeFileSync(path, JSON.stringify(script))
  FS.writeFileSync(
    join(folder, "config.toml"),
    `model_provider = "offline"\n[offline]\nscript = "${path}"\n`,
  )
}

/** Writes until the disk is full. */
const fill = (path: string) => {
  const file = FS.openSync(path, "w")
  for (let size = 1024 * 1024; size >= 1;) {
    try {
      FS.writeSync(file, Buffer.alloc(size))
    } catch {
      size = Math.floor(size / 2)
    }
  }
  FS.closeSync(file)
}

const touchLeases = (home: string): void => {
  const folder = join(home, "colloquy-store", "leases")
  for (const name of FS.readdirSync(folder)) FS.utimesSync(join(folder, name), 0, 0)
}

const limitDescriptors = (pid: number, soft: number) =>
  run("prlimit", "--pid", String(pid), `--nofile=${soft}:`)

const canLimit = process.platform === "linux" && run("prlimit", "--pid", String(process.pid))

/** Makes the store fail during a turn, and repairs it once every listener has received the turn's end. */
const failing = Effect.fnUntraced(function* (
  app: App,
  {
    code,
    fail,
    recover,
  }: { readonly code: string; readonly fail: () => void; readonly recover: () => void },
) {
  const { conversationId } = yield* made(app, {
    approvalPolicy: "never",
    sandbox: "danger-full-access",
  })
  const plain = yield* listening(app, conversationId)
  const numbered = yield* listening(app, conversationId, { after: -1 })
  yield* say(app, conversationId, "go")
  yield* app.received("codex/event/exec_command_begin", 1)
  fail()
  yield* app.received("conversationClosed", 1)
  const ends = app.messages.filter(({ method }) => method === "conversationClosed")
  assert.sameMembers(
    ends.map(({ params }) => params?.["subscriptionId"]),
    [plain, numbered],
  )
  for (const { params } of ends) assert.include(String(params?.["reason"]), code)
  const { message } = yield* app.refused("sendUserMessage", {
    conversationId,
    items: [{ type: "text", data: { text: "refused" } }],
  })
  assert.include(message, code)
  recover()
  const { turnId } = yield* say(app, conversationId, "again")
  yield* ending(app, turnId)
  for (const subscription of [plain, numbered]) {
    const aborted = app.messages.filter(
      ({ method, params }) =>
        method === "codex/event/turn_aborted" &&
        params?.["id"] === "0" &&
        params["subscriptionId"] === subscription,
    )
    assert.lengthOf(aborted, 1)
  }
})

describe("the built app-server", () => {
  it.live.skipIf(!canMount)(
    "L5 ends every listener with ENOSPC when its disk is full, and the turn when there is room",
    () =>
      Effect.gen(function* () {
        const folder = yield* disk
        configure(folder)
        const app = yield* start({ home: folder })
        const filler = join(folder, "filler")
        yield* failing(app, {
          code: "ENOSPC",
          fail: () => fill(filler),
          recover: () => FS.rmSync(filler),
        })
      }).pipe(Effect.scoped),
    30_000,
  )

  it.live.skipIf(!canLimit)(
    "L5 L16 ends every listener with EMFILE when no descriptor is left, and loses no lease",
    () =>
      Effect.gen(function* () {
        const app = yield* start({ script })
        yield* failing(app, {
          code: "EMFILE",
          fail: () => {
            // The check of a lease whose file was touched has to read it.
            touchLeases(app.home)
            limitDescriptors(app.pid, 3)
          },
          recover: () => limitDescriptors(app.pid, 1024),
        })
      }).pipe(Effect.scoped),
    30_000,
  )

  it.live.skipIf(!canLimit)(
    "L5 L16 records the rest of a turn, and keeps its lease, when no descriptor is left",
    () =>
      Effect.gen(function* () {
        const app = yield* start({ script })
        const { conversationId } = yield* made(app, {
          approvalPolicy: "never",
          sandbox: "danger-full-access",
        })
        yield* listening(app, conversationId)
        const { turnId } = yield* say(app, conversationId, "go")
        // The event of the beginning comes before the process starts, which needs descriptors.
        yield* app.received("codex/event/exec_command_output_delta")
        limitDescriptors(app.pid, 3)
        yield* ending(app, turnId)
        // Whether processes are left cannot be told without a descriptor: the command failed, and its events say so.
        const { msg } = yield* app.received("codex/event/exec_command_end")
        const { exit_code, stderr } = msg as Readonly<Record<string, unknown>>
        assert.strictEqual(exit_code, -1)
        assert.match(String(stderr), /^execution error: .* may be left: EMFILE$/)
        assert.deepStrictEqual(
          app.messages.filter(({ method }) => method === "conversationClosed"),
          [],
        )
        limitDescriptors(app.pid, 1024)
        const { turnId: next } = yield* say(app, conversationId, "again")
        yield* ending(app, next)
      }).pipe(Effect.scoped),
    30_000,
  )
})
