/** A server with a model that calls one tool, `ask`, which sends questions to a person; and helpers for the client. */
import type { ApprovalRequest, Verdict } from "@colloquy/core/approvals/Approval"
import { type ToolContext, ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Harness, type HarnessOptions, toolCall, withServer } from "./Harness.ts"
import type { WireMessage } from "./Wire.ts"

export const exec: ApprovalRequest = {
  _tag: "Exec",
  callId: "c",
  command: ["touch", "made.txt"],
  cwd: "/workspace",
  sandbox: { mode: "read-only" },
  parsedCommand: [{ type: "unknown", cmd: "touch made.txt" }],
}

/** The questions that a tool asks, one after the other, and the verdicts that it received. */
export interface Asked {
  readonly tools: ToolRuntime["Service"]
  readonly verdicts: Array<Verdict>
}

/** @param beside runs concurrently with every question */
export const asking = (
  requests: ReadonlyArray<ApprovalRequest>,
  beside: (context: ToolContext) => Effect.Effect<void> = () => Effect.void,
): Asked => {
  const verdicts: Array<Verdict> = []
  return {
    verdicts,
    tools: ToolRuntime.simple({
      specs: () => [],
      run: (_, context) =>
        Effect.gen(function* () {
          for (const request of requests) {
            const both = [context.approve(request), beside(context)] as const
            const [verdict] = yield* Effect.all(both, { concurrency: "unbounded" })
            verdicts.push(verdict)
          }
          return "asked"
        }),
    }),
  }
}

export const oneCall: Script.ProviderScript = [
  Script.reply(Script.toolCall("ask", {}, "c")),
  Script.reply(Script.text("done")),
  Script.reply(Script.text("later")),
]

export const initialize = (capabilities: unknown) => ({
  jsonrpc: "2.0",
  id: "i",
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities,
    clientInfo: { name: "test", version: "1" },
  },
})

export const elicitations = ({ messages }: Harness) =>
  messages.filter(({ method }) => method === "elicitation/create")

/** The id of a question that was asked, by default of the first; fails the test when there is none. */
export const questionId = (server: Harness, index = 0): unknown => {
  const question = elicitations(server)[index]
  if (question === undefined) throw new Error(`question ${index} was not asked`)
  return question.id
}

/** Ids of the questions that the server withdrew. */
export const withdrawn = ({ messages }: Harness): ReadonlyArray<unknown> =>
  messages.flatMap(({ method, params }) =>
    method === "notifications/cancelled" ? [params?.["requestId"]] : [],
  )

export const responses = ({ messages }: Harness, id: unknown): ReadonlyArray<WireMessage> =>
  messages.filter((message) => message.method === undefined && message.id === id)

export const result = (id: unknown, value: unknown) => ({ jsonrpc: "2.0", id, result: value })

/** Runs `body` when call 2 has asked its first question. */
export const withQuestion = <A, E>(
  asked: Asked,
  body: (server: Harness) => Effect.Effect<A, E, Scope.Scope>,
  options: HarnessOptions & { readonly capabilities?: unknown; readonly config?: unknown } = {},
): Effect.Effect<A, E> =>
  withServer({ script: oneCall, tools: asked.tools, ...options }, (server) =>
    Effect.gen(function* () {
      yield* server.send(initialize(options.capabilities ?? { elicitation: {} }))
      yield* server.send(
        toolCall(2, "codex", {
          prompt: "ask",
          ...(options.config === undefined ? {} : { config: options.config }),
        }),
      )
      yield* server.quiet
      return yield* body(server)
    }),
  )
