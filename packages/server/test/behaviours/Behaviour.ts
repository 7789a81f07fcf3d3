/**
 * The behaviours of a server, written once for every revision and transport. A behaviour is a function over a world: a
 * server with the offline model and a shell, and clients that use one revision with it.
 */
import type { Revision } from "@colloquy/protocol/mcp/Revisions"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Members, Reply, Speaker } from "./Speaker.ts"

export interface World {
  readonly revision: Revision
  /** For its own server, which has a hundred and one prompts `many-0` … and one `greet` with an argument. */
  readonly speak: (capabilities?: Members) => Effect.Effect<Speaker, never, Scope.Scope>
  /** Lets this duration pass. */
  readonly pass: (duration: Duration.Input) => Effect.Effect<void>
  /** Working directory of the conversations. */
  readonly cwd: string
}

export interface Behaviour {
  readonly name: string
  readonly applies: (revision: Revision) => boolean
  readonly run: (world: World) => Effect.Effect<void, never, Scope.Scope>
}

/** A range of revisions, which are dates: the first that has the behaviour, and the first that no longer has it. */
export interface Range {
  readonly since?: Revision
  readonly until?: Revision
}

export const behaviour = (
  name: string,
  run: Behaviour["run"],
  { since, until }: Range = {},
): Behaviour => ({
  name,
  applies: (revision) =>
    (since === undefined || since <= revision) && (until === undefined || revision < until),
  run,
})

/** The revision without an `initialize` handshake. */
export const stateless = { since: "2026-07-28" } as const
export const handshake = { until: "2026-07-28" } as const

export const codes = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  resourceNotFound: -32002,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const

/** Arguments of `codex` that run a command which needs an approval and creates a file. */
export const touching = ({ cwd }: World): Members => ({
  prompt: "run: touch made.txt && echo made",
  cwd,
  "approval-policy": "untrusted",
  sandbox: "danger-full-access",
})

/** Arguments of `codex` that run a command which does not end by itself. */
export const sleeping = ({ cwd }: World): Members => ({
  prompt: "run: sleep 600",
  cwd,
  "approval-policy": "never",
  sandbox: "danger-full-access",
})

export const callOf = (name: string, args: Members, more: Members = {}): Members => ({
  name,
  arguments: args,
  ...more,
})

interface Content {
  readonly text?: string
}

/** The text of a tool's result, or the code and message of an error, so that a comparison shows them. */
export const textOf = ({ error, result }: Reply): string => {
  if (error !== undefined) return `error ${error.code}: ${error.message}`
  const [first] = (result?.["content"] ?? []) as ReadonlyArray<Content>
  return first?.text ?? JSON.stringify(result)
}

export const structured = ({ result }: Reply): Members =>
  (result?.["structuredContent"] ?? {}) as Members

/** The conversation that a result names. */
export const threadOf = (reply: Reply): string => String(structured(reply)["threadId"])

type Holder = Members | undefined

/** The list under this name in a response; empty if the response has none. */
export const listIn = (holder: Holder, name: string): ReadonlyArray<Members> =>
  (holder?.[name] ?? []) as ReadonlyArray<Members>
export const membersIn = (holder: Holder, name: string): Members =>
  (holder?.[name] ?? {}) as Members
