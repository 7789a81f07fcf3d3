/** The workspace root of a principal, in every place where a client can name a directory. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { HostPort } from "../../src/app/ports/HostPort.ts"
import type { Workspaces } from "../../src/Workspace.ts"
import { created, hello, resultOf, text, turnParams, withApp } from "../support/AppHarness.ts"
import { initialize } from "../support/Asking.ts"
import { type Harness, type HarnessOptions, withServer } from "../support/Harness.ts"
import { callResult, textOf, threadOf, type WireMessage } from "../support/Wire.ts"

const root = "/work/bob"

/** A file system of directories, in which some names are links. */
const withLinks = () => {
  const links = new Map([[`${root}/out`, "/etc"]])
  const directories = new Set(["/", "/work", "/etc", root, `${root}/a`, "/work/bobby"])
  const realPath = (path: string): string | undefined =>
    links.get(path) ?? (directories.has(path) ? path : undefined)
  const workspaces: Workspaces = {
    rootOf: (principal) => (principal === "bob" ? root : undefined),
    realPath: (path) => Effect.sync(() => realPath(path)),
  }
  return { links, workspaces }
}

/** Paths that lead out of the root, as a client can write them. */
const foreign = ["/etc", "/work", "..", "a/../..", "/work/bobby", "out", `${root}/missing`, "/"]

const config = (mode: string) => ({ sandbox_mode: mode })

const withMcp = (
  options: HarnessOptions,
  body: (bob: Harness, local: Harness) => Effect.Effect<void, never, Scope.Scope>,
) =>
  withServer({ ownTools: "all", ...options }, (local) =>
    Effect.gen(function* () {
      const bob = yield* local.as("bob")
      for (const one of [local, bob]) {
        yield* one.send(initialize({}))
        yield* one.response("i")
      }
      yield* body(bob, local)
    }),
  )

const isRefused = (message: WireMessage, field: string, what: string) => {
  const words = message.error?.message ?? textOf(message)
  assert.include(words, `${field}: expected`, what)
  if (message.error === undefined) assert.isTrue(callResult(message).isError, what)
}

describe("the workspace root over MCP", () => {
  it.effect(
    "`cwd` cannot leave it, however it is written, in a new conversation and in a message",
    () =>
      withMcp(withLinks(), (bob, local) =>
        Effect.gen(function* () {
          const id = threadOf(yield* bob.call("own", "codex", { prompt: "hi", cwd: "a" }))
          for (const cwd of foreign) {
            isRefused(yield* bob.call(`1${cwd}`, "codex", { prompt: "hi", cwd }), "cwd", cwd)
            isRefused(yield* bob.call(`2${cwd}`, "conversationCreate", { cwd }), "cwd", cwd)
            const message = {
              conversation_id: id,
              content: [{ type: "text", text: "more" }],
              cwd,
            }
            isRefused(yield* bob.call(`3${cwd}`, "conversationSendMessage", message), "cwd", cwd)
          }
          const status = yield* bob.call("status", "conversationStatus", { conversation_id: id })
          assert.strictEqual(callResult(status).structuredContent?.["cwd"], `${root}/a`)
          // The user of the server has no root.
          threadOf(yield* local.call("free", "codex", { prompt: "hi", cwd: "/etc" }))
        }),
      ),
  )

  it.effect("it is the directory of a conversation that names none", () =>
    withMcp(withLinks(), (bob) =>
      Effect.gen(function* () {
        const id = threadOf(yield* bob.call("own", "codex", { prompt: "hi" }))
        const status = yield* bob.call("status", "conversationStatus", { conversation_id: id })
        assert.strictEqual(callResult(status).structuredContent?.["cwd"], root)
      }),
    ),
  )

  it.effect("a directory that has become a link since leads no turn out of it", () => {
    const { links, workspaces } = withLinks()
    return withMcp({ workspaces }, (bob) =>
      Effect.gen(function* () {
        const id = threadOf(yield* bob.call("own", "codex", { prompt: "hi", cwd: "a" }))
        links.set(`${root}/a`, "/etc")
        const reply = yield* bob.call(2, "codex-reply", { threadId: id, prompt: "more" })
        isRefused(reply, "cwd", "codex-reply")
        links.delete(`${root}/a`)
        threadOf(yield* bob.call(3, "codex-reply", { threadId: id, prompt: "more" }))
      }),
    )
  })

  it.effect("the sandbox cannot be widened, and no key that starts programs can be set", () =>
    withMcp(withLinks(), (bob, local) =>
      Effect.gen(function* () {
        for (const [field, args] of [
          ["sandbox", { sandbox: "danger-full-access" }],
          ["sandbox", { config: config("danger-full-access") }],
          [
            "writable_roots",
            {
              sandbox: "workspace-write",
              config: { "sandbox_workspace_write.writable_roots": ["/etc"] },
            },
          ],
          [
            "network_access",
            {
              sandbox: "workspace-write",
              config: { "sandbox_workspace_write.network_access": true },
            },
          ],
          ["config.mcp_servers", { config: { mcp_servers: { x: { command: "sh" } } } }],
          ["config.mcp_servers.x", { config: { "mcp_servers.x": { command: "sh" } } }],
          ["config.notify", { config: { notify: ["sh"] } }],
          ["config.unattended", { config: { unattended: "allow" } }],
          [
            "config.experimental_instructions_file",
            { config: { experimental_instructions_file: "/etc/passwd" } },
          ],
        ] as const) {
          const name = JSON.stringify(args)
          isRefused(yield* bob.call(name, "codex", { prompt: "hi", ...args }), field, name)
        }
        const own = { sandbox: "workspace-write", config: { model_reasoning_effort: "low" } }
        threadOf(yield* bob.call("own", "codex", { prompt: "hi", ...own }))
        threadOf(
          yield* local.call("free", "codex", { prompt: "hi", sandbox: "danger-full-access" }),
        )
      }),
    ),
  )
})

describe("the workspace root over the app-server", () => {
  const searched: Array<ReadonlyArray<string>> = []
  const host = HostPort.of({
    gitDiffToRemote: ({ cwd }) => Effect.succeed({ sha: cwd, diff: "" }),
    searchFiles: ({ roots }) => Effect.sync(() => (searched.push(roots), [])),
    runCommand: ({ settings }) => Effect.succeed({ exitCode: 0, stdout: settings.cwd, stderr: "" }),
  })

  const withBob = (body: (bob: Harness) => Effect.Effect<void, never, Scope.Scope>) =>
    withApp({ ...withLinks(), ports: { host } }, (local) =>
      Effect.gen(function* () {
        const bob = yield* local.as("bob")
        yield* hello(bob)
        yield* body(bob)
      }),
    )

  it.effect("every method that takes a directory refuses one outside", () =>
    withBob((bob) =>
      Effect.gen(function* () {
        const conversationId = yield* created(bob, { cwd: "a" })
        for (const cwd of foreign) {
          for (const [method, params, field] of [
            ["newConversation", { cwd }, "cwd"],
            ["sendUserTurn", turnParams(conversationId, { cwd }), "cwd"],
            ["gitDiffToRemote", { cwd }, "cwd"],
            ["execOneOffCommand", { command: ["true"], cwd }, "cwd"],
            ["fuzzyFileSearch", { query: "a", roots: [root, cwd] }, "roots"],
            [
              "sendUserMessage",
              { conversationId, items: [{ type: "localImage", data: { path: cwd } }] },
              "items",
            ],
          ] as const) {
            const what = `${method} ${cwd}`
            const refused = yield* bob.ask(what, method, params)
            // Images are relative to the directory of their turn, which is further down.
            if (field === "items" && cwd.endsWith("..")) continue
            assert.include(refused.error?.message, `${field}: expected`, what)
          }
        }
        assert.deepStrictEqual(searched, [])
        for (const [method, params] of [
          ["sendUserTurn", turnParams(conversationId, { cwd: `${root}/a` })],
          ["gitDiffToRemote", { cwd: "a" }],
          ["execOneOffCommand", { command: ["true"] }],
          ["fuzzyFileSearch", { query: "a", roots: ["a"] }],
          ["sendUserMessage", { conversationId, items: text("hi") }],
        ] as const) {
          resultOf(yield* bob.ask(`own ${method}`, method, params))
        }
        assert.deepStrictEqual(searched, [[`${root}/a`]])
      }),
    ),
  )

  it.effect("a turn and a command outside of conversations cannot widen the sandbox", () =>
    withBob((bob) =>
      Effect.gen(function* () {
        const conversationId = yield* created(bob)
        for (const sandboxPolicy of [
          { mode: "danger-full-access" },
          { mode: "workspace-write", writable_roots: ["/etc"], network_access: false },
          { mode: "workspace-write", network_access: true },
        ]) {
          const what = JSON.stringify(sandboxPolicy)
          const turn = turnParams(conversationId, { cwd: root, sandboxPolicy })
          const turned = yield* bob.ask(`t${what}`, "sendUserTurn", turn)
          assert.include(turned.error?.message, ": expected", what)
          const command = { command: ["true"], sandboxPolicy }
          const ran = yield* bob.ask(`c${what}`, "execOneOffCommand", command)
          assert.include(ran.error?.message, ": expected", what)
          assert.deepStrictEqual(ran.error?.data, { reason: "OutsideWorkspace" })
        }
      }),
    ),
  )
})
