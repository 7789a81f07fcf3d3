/** The operations that the checks perform with a client, independent of which client it is. */
import { type ClientName, clientNames } from "./Pins.ts"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { describe, inject } from "vitest"
import { entry } from "../test/support/BuiltProgram.ts"
import { home } from "../test/support/Home.ts"
import { environment, type ToolResult } from "../test/support/Server.ts"

export interface Answer {
  readonly action: "accept" | "decline" | "cancel"
  readonly content?: Record<string, string>
}

/** Answers a question; the signal aborts when the question is withdrawn. */
export type Answerer = (message: string, signal: AbortSignal) => Promise<Answer>

export interface Progress {
  readonly progress: number
  readonly message?: string | undefined
}

/** Call options that have the same name in both generations of the official client. */
export interface CallOptions {
  readonly signal?: AbortSignal
  readonly onprogress?: (progress: Progress) => void
  readonly timeout?: number
  readonly resetTimeoutOnProgress?: boolean
}

export interface Event {
  readonly type: string
  readonly threadId: string
}

/** Methods that have the same name in both generations of the official client. */
export interface Reader {
  listResources(): Promise<{ readonly resources: ReadonlyArray<{ readonly uri: string }> }>
  readResource(params: { readonly uri: string }): Promise<{
    readonly contents: ReadonlyArray<{ readonly uri: string; readonly text?: string }>
  }>
  listPrompts(): Promise<{ readonly prompts: ReadonlyArray<{ readonly name: string }> }>
  getPrompt(params: {
    readonly name: string
    readonly arguments: Readonly<Record<string, string>>
  }): Promise<{
    readonly messages: ReadonlyArray<{ readonly content: { readonly text?: string } }>
  }>
  complete(params: {
    readonly ref: { readonly type: "ref/resource"; readonly uri: string }
    readonly argument: { readonly name: string; readonly value: string }
  }): Promise<{ readonly completion: { readonly values: ReadonlyArray<string> } }>
}

export interface Driver {
  readonly tools: () => Promise<ReadonlyArray<string>>
  readonly call: (
    name: string,
    args: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ) => Promise<ToolResult>
  /** Calls a tool as a task and waits for its result with the client's own support; absent where it has none. */
  readonly callAsTask?: (
    name: string,
    args: Readonly<Record<string, unknown>>,
  ) => Promise<{ readonly statuses: ReadonlyArray<string>; readonly result: ToolResult }>
  readonly reader: Reader
  /** Watches a resource and adds its changes to `updated`. Resolves with a function that ends the watch. */
  readonly watch: (uri: string) => Promise<() => Promise<unknown>>
  /** Addresses of resources that have changed, one per notification. */
  readonly updated: ReadonlyArray<string>
  /** Sends a short request and resolves with the response. */
  readonly ping: () => Promise<unknown>
  /** The revision that both sides speak. */
  readonly revision: () => string | undefined
  readonly close: () => Promise<void>
  /** `codex/event` notifications so far. */
  readonly events: ReadonlyArray<Event>
  /** Errors that the client reported. */
  readonly errors: ReadonlyArray<Error>
}

export interface ServerCommand {
  readonly command: string
  readonly args: Array<string>
  readonly env: Record<string, string>
}

/** A server that listens. */
export interface ServerAddress {
  /** Without a path. */
  readonly url: string
  readonly token: string
}

/** How a client reaches a server: over the standard streams of a program that it starts, or over HTTP. */
export type Target = ServerCommand | ServerAddress

/** Prepares a server with a new state directory and these settings. */
export type Serve = (overrides?: ReadonlyArray<string>) => Effect.Effect<Target, never, Scope.Scope>

/** Connects a client; without `answer` it declares no elicitation. */
export type Connect = (target: Target, answer: Answerer | undefined) => Promise<Driver>

/** A client, and the server that it is connected to. */
export interface Way {
  readonly connect: Connect
  readonly serve: Serve
}

/** Capabilities of a client that receives the server's events; valid in every revision. */
export const withEvents = { experimental: { "codex/event": {} } }

/** The folder that has the `node_modules` of an installed client. */
export const folderOf = (client: ClientName): string => join(inject("installed").folder, client)

/** A module of an installed client; the specifier begins with the name of the client. */
export const load = (specifier: string): unknown => {
  const client = clientNames.find((name) => `${specifier}/`.startsWith(`${name}/`))
  if (client === undefined) throw new Error(`${specifier} belongs to no client of the list`)
  return createRequire(join(folderOf(client), "package.json"))(specifier)
}

interface Entry {
  readonly import?: Entry | string
  readonly default?: Entry | string
}

const pathOf = (entry: Entry | string | undefined): string | undefined =>
  entry === undefined || typeof entry === "string"
    ? entry
    : (pathOf(entry.import) ?? pathOf(entry.default))

/** A package in the folder of a client that has no entry for `require`. */
export const importPackage = (client: ClientName, name: string): Promise<unknown> => {
  const folder = join(folderOf(client), "node_modules", name)
  const { exports = {}, main } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly exports?: Readonly<Record<string, Entry | string>>
    readonly main?: string
  }
  return import(join(folder, pathOf(exports["."]) ?? main ?? "index.js")) as Promise<unknown>
}

/** Skips the checks of a client that could not be installed. */
export const describeClient = (name: ClientName, checks: () => void): void => {
  describe.skipIf(inject("installed").missing[name] !== undefined)(name, checks)
}

/** Collects the notifications that the clients do not process themselves. */
export const listener = (events: Array<Event>, updated: Array<string>) => {
  const hear = (method: string, params: unknown): void => {
    if (method === "codex/event") events.push(eventOf(params))
    if (method === "notifications/resources/updated") {
      updated.push((params as { readonly uri: string }).uri)
    }
  }
  return (notification: { readonly method: string; readonly params?: unknown }) => {
    hear(notification.method, notification.params)
    return Promise.resolve()
  }
}

/** Reads a `codex/event` from the form in which the clients pass on unknown notifications. */
const eventOf = (params: unknown): Event => {
  const { _meta, msg } = params as {
    readonly _meta: { readonly threadId: string }
    readonly msg: { readonly type: string }
  }
  return { type: msg.type, threadId: _meta.threadId }
}

/** Setting that requests the offline model, because it never answers without being configured. */
export const offline = 'model_provider="offline"'

/** A new state directory that has one prompt. */
export const stateDirectory: Effect.Effect<string, never, Scope.Scope> = Effect.map(
  home(),
  (directory) => {
    mkdirSync(join(directory, "prompts"))
    writeFileSync(join(directory, "prompts", "greet.md"), "Hello $WHO\n")
    return directory
  },
)

/** The words of a command line that set these settings, and the offline model. */
export const settingWords = (overrides: ReadonlyArray<string>): ReadonlyArray<string> =>
  [offline, ...overrides].flatMap((override) => ["-c", override])

/** The built server over standard streams, with a new state directory that has one prompt. */
export const server = (
  overrides: ReadonlyArray<string> = [],
): Effect.Effect<ServerCommand, never, Scope.Scope> =>
  Effect.map(stateDirectory, (directory) => ({
    command: process.execPath,
    args: [entry, "mcp", ...settingWords(overrides)],
    env: environment({ home: directory, env: { COLLOQUY_LOG: "error" } }),
  }))
