/**
 * Tests two clients of one server process, each on a separate socket. Standard streams cannot show this, because they
 * have one client.
 * The store, the tools and the files are real.
 */
import * as AppClient from "@colloquy/client/AppClient"
import * as Conversations from "@colloquy/core/manager/Conversations"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import * as OfflineModel from "@colloquy/models/OfflineModel"
import { Auth } from "@colloquy/server/app/ports/AuthPort"
import { HostPort } from "@colloquy/server/app/ports/HostPort"
import { UserConfig } from "@colloquy/server/app/ports/UserConfigPort"
import { Server } from "@colloquy/server/Server"
import * as AppServer from "@colloquy/server/AppServer"
import * as NodeStore from "@colloquy/store/node/NodeStore"
import { NewConversation } from "@colloquy/protocol/app/Conversations"
import { SendUserMessage } from "@colloquy/protocol/app/Messages"
import { scriptedResolver, scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import * as StdioConnection from "@colloquy/transport-stdio/StdioConnection"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Fs from "node:fs"
import { connect as connectSocket, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as MachinePrograms from "../src/machine/MachinePrograms.ts"
import * as MachineTools from "../src/machine/MachineTools.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "colloquy-two-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, maxRetries: 10 })),
)

/** Services that ask about every command and confine none: the only command is `touch`. */
const services = (home: string) =>
  Layer.mergeAll(
    Server.layerDefault(),
    Auth.layerNone,
    HostPort.layerNone,
    UserConfig.layerNone,
  ).pipe(
    Layer.provide(Conversations.layer),
    Layer.provide([
      OfflineModel.layer({ deltaDelay: Duration.zero }),
      IdGenerator.layer,
      NodeStore.layer({ home }),
      Layer.provide(
        MachineTools.layer({
          environment: { PATH: process.env["PATH"] },
          secretNames: [],
          node: process.execPath,
          hiddenPaths: [],
        }),
        MachinePrograms.layer({ PATH: process.env["PATH"] }),
      ),
    ]),
    Layer.provideMerge(
      scriptedResolver(
        scriptedSettings({
          cwd: home,
          approvalPolicy: "untrusted",
          sandboxPolicy: { mode: "danger-full-access" },
        }),
      ),
    ),
  )

/** Serves every client of the socket until the scope closes. */
const serve = Effect.fnUntraced(function* (path: string) {
  const serving = yield* FiberSet.makeRuntime<Server | Auth | HostPort | UserConfig, void>()
  const sockets = new Set<Socket>()
  yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((socket) => {
        sockets.add(socket)
        serving(
          Effect.scoped(
            Effect.flatMap(StdioConnection.make({ input: socket, output: socket }), (connection) =>
              AppServer.serve(connection),
            ),
          ),
        )
      })
      server.listen(path, () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
      }),
  )
})

const joined = Effect.fnUntraced(function* (
  path: string,
  options: Pick<AppClient.ConnectOptions, "onApproval"> = {},
) {
  const socket = yield* Effect.acquireRelease(
    Effect.callback<Socket>((resume) => {
      const opened = connectSocket(path, () => resume(Effect.succeed(opened)))
    }),
    (opened) => Effect.sync(() => opened.destroy()),
  )
  const connection = yield* StdioConnection.make({ input: socket, output: socket })
  return yield* AppClient.connect(connection, {
    clientInfo: { name: "two", version: "1" },
    ...options,
  })
})

const isKept = (type: string) => !type.endsWith("_delta")

/** Number and type of each durable event of a conversation, up to the end of the `turns`-th turn received. */
const kept = (app: AppClient.AppClient, conversationId: string, turns: number, after = -1) => {
  let left = turns
  return app.events(conversationId, { after, raw: true }).pipe(
    Stream.takeUntil((message) => {
      if (message._tag === "Event" && message.msg.type === "task_complete") left--
      return left === 0
    }),
    Stream.runCollect,
    Effect.map((all) =>
      all.flatMap((message) =>
        message._tag === "Event" && isKept(message.msg.type)
          ? [`${message.seq} ${message.msg.type}`]
          : [],
      ),
    ),
  )
}

const say = (app: AppClient.AppClient, conversationId: string, text: string) =>
  app.client.request(SendUserMessage, {
    conversationId,
    items: [{ type: "text", data: { text } }],
  })

describe("two clients of one app-server", () => {
  it.live("see the same events; one answers the question, the other is notified of it", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      const path = join(home, "socket")
      yield* Effect.gen(function* () {
        yield* serve(path)
        const asked = yield* Deferred.make<void>()
        const withdrawn = yield* Deferred.make<void>()
        const first = yield* joined(path, {
          onApproval: () =>
            Effect.andThen(Deferred.succeed(asked, undefined), Effect.never).pipe(
              Effect.onInterrupt(() => Deferred.succeed(withdrawn, undefined)),
            ),
        })
        const second = yield* joined(path, {
          // Answers only after the other client has received the question, too.
          onApproval: () => Effect.as(Deferred.await(asked), "approved" as const),
        })
        const { conversationId } = yield* first.client.request(NewConversation, {})
        const hearing = yield* Effect.all(
          [kept(first, conversationId, 1), kept(second, conversationId, 1)],
          { concurrency: 2 },
        ).pipe(Effect.forkChild({ startImmediately: true }))
        yield* say(first, conversationId, `run: touch ${join(home, "made")}`)
        const [one, two] = yield* Fiber.join(hearing)
        assert.deepStrictEqual(one, two)
        assert.strictEqual(one.filter((line) => line.endsWith("exec_approval_request")).length, 1)
        assert.deepStrictEqual(
          one.map((line) => Number.parseInt(line, 10)),
          one.map((_, i) => i),
        )
        yield* Deferred.await(withdrawn)
        assert.isTrue(Fs.existsSync(join(home, "made")))
      }).pipe(Effect.scoped, Effect.provide(services(home)))
    }).pipe(Effect.scoped),
  )

  it.live("a client that leaves and returns with its cursor misses nothing", () =>
    Effect.gen(function* () {
      const home = yield* temporary
      const path = join(home, "socket")
      yield* Effect.gen(function* () {
        yield* serve(path)
        const stays = yield* joined(path)
        const { conversationId } = yield* stays.client.request(NewConversation, {})
        const all = yield* Effect.forkChild(kept(stays, conversationId, 3), {
          startImmediately: true,
        })
        const before = yield* Effect.scoped(
          Effect.gen(function* () {
            const leaves = yield* joined(path)
            const received = yield* Effect.forkChild(kept(leaves, conversationId, 1), {
              startImmediately: true,
            })
            yield* say(stays, conversationId, "say one")
            return yield* Fiber.join(received)
          }),
        )
        yield* say(stays, conversationId, "say two")
        const back = yield* joined(path)
        const rest = yield* Effect.forkChild(
          kept(back, conversationId, 2, Number.parseInt(before.at(-1) ?? "", 10)),
          { startImmediately: true },
        )
        yield* back.client.request(SendUserMessage, {
          conversationId,
          items: [{ type: "text", data: { text: "say three" } }],
          whileRunning: "wait",
        })
        assert.deepStrictEqual([...before, ...(yield* Fiber.join(rest))], yield* Fiber.join(all))
      }).pipe(Effect.scoped, Effect.provide(services(home)))
    }).pipe(Effect.scoped),
  )
})
