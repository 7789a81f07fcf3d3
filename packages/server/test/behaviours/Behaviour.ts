/**
 * What a server does, said once for every revision and every transport. A behaviour is a function over a world: a
 * server with the offline model and a shell, and clients that speak one revision to it.
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
  /** Lets so much time go by. */
  readonly pass: (duration: Duration.Input) => Effect.Effect<void>
  /** A directory to work in. */
  readonly cwd: string
}

export interface Behaviour {
  readonly name: string
  readonly applies: (revision: Revision) => boolean
  readonly run: (world: World) => Effect.Effect<void, never, Scope.Scope>
}

/** Revisions are dates: the first that has it, and the first that has it no more. */
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

/** The revision in which a client shakes no hands. */
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

/** A prompt of `codex` whose command has to be approved, and leaves a file. */
export const touching = ({ cwd }: World): Members => ({
  prompt: "run: touch made.txt && echo made",
  cwd,
  "approval-policy": "untrusted",
  sandbox: "danger-full-access",
})

/** A prompt of `codex` whose command runs until it is stopped. */
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

/** The text of a tool's result; of an error its code and its message, so that a comparison shows them. */
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

/** Members that are there in an answer as it should be; of another one they are empty. */
export const listIn = (holder: Holder, name: string): ReadonlyArray<Members> =>
  (holder?.[name] ?? []) as ReadonlyArray<Members>
export const membersIn = (holder: Holder, name: string): Members =>
  (holder?.[name] ?? {}) as Members
