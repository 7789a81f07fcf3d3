/** A row: a test of one method on the built server. Also holds the steps that most rows begin with. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { type App, type AppOptions, type ClientMethod, type Members, start } from "./App.ts"

export interface Row {
  /** The behaviour of the method that the row demonstrates. */
  readonly shows: string
  /** Runs the test and resolves with the client that it used. */
  readonly run: Effect.Effect<App, never, Scope.Scope>
}

export const row = (
  shows: string,
  options: AppOptions,
  body: (app: App) => Effect.Effect<void, never, Scope.Scope>,
): Row => ({ shows, run: Effect.tap(start(options), body) })

export const invalid = (message: string) => ({ code: -32600, message })
export const internal = (message: string) => ({ code: -32603, message })

/** Checks that the request fails with exactly this error. */
export const refuses = (
  app: App,
  method: ClientMethod,
  params: unknown,
  error: { readonly code: number; readonly message: string },
): Effect.Effect<void> =>
  Effect.map(app.refused(method, params), (found) => assert.deepStrictEqual(found, error))

export const notInitialized = invalid("Not initialized")
export const unknownId = "00000000-0000-4000-8000-000000000000"
export const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
export const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export interface Made {
  readonly conversationId: string
  readonly rolloutPath: string
}

/** Creates a conversation in the client's working directory, with every command allowed. */
export const made = (app: App, more: Members = {}): Effect.Effect<Made> =>
  Effect.map(
    app.ask("newConversation", {
      cwd: app.work,
      approvalPolicy: "never",
      sandbox: "danger-full-access",
      ...more,
    }),
    ({ conversationId, rolloutPath }) => ({
      conversationId: String(conversationId),
      rolloutPath: String(rolloutPath),
    }),
  )

export const words = (text: string) => [{ type: "text", data: { text } }]

export const say = (app: App, conversationId: string, text: string, more: Members = {}) =>
  app.ask("sendUserMessage", { conversationId, items: words(text), ...more })

/** Resolves with the terminal event of this turn, which an attached listener of the client receives. */
export const ending = (app: App, turnId: unknown) =>
  app.until(
    ({ method, params }) => method === "codex/event/task_complete" && params?.["id"] === turnId,
  )

export const listening = (app: App, conversationId: string, more: Members = {}) =>
  Effect.map(app.ask("addConversationListener", { conversationId, ...more }), (answer) =>
    String(answer["subscriptionId"]),
  )

/** Sends a message and resolves when its turn has ended. */
export const turn = (app: App, conversationId: string, text: string, more: Members = {}) =>
  Effect.flatMap(say(app, conversationId, text, more), ({ turnId }) => ending(app, turnId))

const prefix = "codex/event/"

/** Number and message of each event that the client received, in order. */
export const events = (app: App): ReadonlyArray<readonly [seq: unknown, msg: unknown]> =>
  app.messages.flatMap(({ method, params }) =>
    method?.startsWith(prefix) === true ? [[params?.["seq"], params?.["msg"]] as const] : [],
  )

/** Paths of the rollout files below a folder of the state directory. */
export const rollouts = (app: App, folder: "sessions" | "archived_sessions") =>
  readdirSync(app.home, { recursive: true, encoding: "utf8" })
    .filter((path) => path.startsWith(`${folder}/`) && path.endsWith(".jsonl"))
    .map((path) => join(app.home, path))

/** A scripted call of the shell tool. */
export const shell = (command: string) => ({
  tool_call: { name: "shell", arguments: { command: ["bash", "-lc", command] }, call_id: "call" },
})

/** A patch that creates the file `made.txt`. */
const patchText = "*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch\n"

export const patch = {
  tool_call: { name: "apply_patch", arguments: { input: patchText }, call_id: "patch" },
}
