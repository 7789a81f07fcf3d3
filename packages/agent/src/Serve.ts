/**
 * An agent as an MCP server: one tool, named after the agent, that sends it a message in a new conversation or in one that
 * is named. The server has the agent's own name and version, and no other tools.
 *
 * A question of the agent's tools that no policy decides is put to the client as a form, where the client can show one;
 * otherwise it is denied.
 */
import { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { Connection } from "@colloquy/protocol/Connection"
import { parseConversationId } from "@colloquy/protocol/Ids"
import { Elicit } from "@colloquy/protocol/mcp/CodexMcp"
import { decisionForm, readDecision } from "@colloquy/protocol/mcp/Elicitation"
import * as Features from "@colloquy/server/features/Features"
import { tool } from "@colloquy/server/features/Tool"
import * as McpServer from "@colloquy/server/McpServer"
import { Server } from "@colloquy/server/Server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { Decision, Question } from "./Approval.ts"
import type { OpenOptions } from "./Chat.ts"
import { isMadeOfName } from "./ConversationName.ts"
import type { AgentRuntime } from "./internal/AgentRuntime.ts"
import {
  type Kinds,
  checkOptions,
  optional,
  options as optionsOf,
  text,
} from "./internal/Options.ts"
import { type Agent, agentKind } from "./MakeAgent.ts"

/** How an agent is served. */
export interface ServeOptions {
  /** For people, beside the name of the agent. */
  readonly title?: string
}

const serveOptions = optionsOf({ title: optional(text) } satisfies Kinds<ServeOptions>)

const Input = Schema.Struct({
  message: Schema.String.annotate({ description: "What to tell the agent." }),
  conversation: Schema.optionalKey(
    Schema.String.annotate({
      description:
        "The conversation to go on with, as an earlier result names it. Default: a new one.",
    }),
  ),
})

const Output = Schema.Struct({ conversation: Schema.String, answer: Schema.String })

type ToolContext = Parameters<Parameters<typeof tool>[0]["run"]>[1]

/** Puts the question to the client of the call. */
const asked =
  (agent: string, context: ToolContext) =>
  ({ reason, tool: name }: Question): Effect.Effect<Decision> =>
    context
      .ask({
        decision: {
          method: Elicit._tag,
          params: {
            message: [`Allow ${agent} to call ${name}?`, reason].filter(Boolean).join("\n"),
            requestedSchema: decisionForm(),
          },
        },
      })
      .pipe(
        Effect.flatMap(({ decision }) => {
          const read = readDecision(decision)
          return Result.isSuccess(read)
            ? Effect.succeed(read.success)
            : Effect.as(
                Effect.logWarning(`the answer to a question: ${read.failure}`),
                "denied" as const,
              )
        }),
        Effect.catch((error) =>
          Effect.as(Effect.logWarning("a question was not answered", error), "denied" as const),
        ),
      )

/**
 * The conversation that a client names, as an earlier result did. Those that the program names are not the client's: of
 * their names, and so of their ids, some can be guessed.
 */
const conversationOf = (runtime: AgentRuntime, given: string) =>
  Effect.gen(function* () {
    const read = parseConversationId(given)
    if (!("id" in read) || isMadeOfName(read.id))
      return yield* new NoSuchConversation({ id: given })
    const services = yield* runtime.acquire
    yield* Context.get(services, ConversationManager).get(read.id)
    return read.id
  })

/** Characters that the name of a tool may have; others become `_`. */
const toolName = (name: string): string => name.replaceAll(/[^A-Za-z0-9_.-]/g, "_").slice(0, 128)

const featuresOf = <Q, E, R, T>(agent: Agent<Q, E, R, T>) => {
  const runtime = agent["~colloquy/agent"]
  const { description, name, onApproval } = runtime.definition
  const canAsk = ({ client, era }: ToolContext): boolean =>
    onApproval === undefined && era === "handshake" && "elicitation" in client.capabilities
  const talk = tool({
    name: toolName(name),
    description: description ?? `Sends a message to the agent \`${name}\` and returns its answer.`,
    input: Input,
    output: Output,
    run: ({ conversation, message }, context) =>
      Effect.scoped(
        Effect.gen(function* () {
          // Whatever the questions of its tools are, they are questions.
          const options = (
            canAsk(context) ? { onApproval: asked(name, context) } : {}
          ) as OpenOptions<Q>
          const known =
            conversation === undefined ? undefined : yield* conversationOf(runtime, conversation)
          const chat = yield* agent.open(known, options)
          const { text } = yield* chat.ask(message).result
          return {
            content: [{ type: "text" as const, text }],
            structuredContent: { conversation: chat.id, answer: text },
          }
        }),
      ),
  })
  return Features.make({ tools: [talk] })
}

/**
 * Serves the agent to one MCP client on this connection, until it ends. Fails where the agent cannot be built, or where
 * its name is that of a tool of Colloquy.
 */
export const toMcp = <Q, E, R, T>(
  agent: Agent<Q, E, R, T>,
  options: ServeOptions = {},
): ((
  connection: Connection,
) => Effect.Effect<void, E | Features.FeatureRefused, Exclude<R, Scope.Scope>>) => {
  checkOptions("Agent.toMcp agent", agentKind, agent)
  checkOptions("Agent.toMcp", serveOptions, options)
  const runtime = agent["~colloquy/agent"]
  const { name, version } = runtime.definition
  const { title = name } = options
  return (connection) =>
    Effect.scoped(
      Effect.gen(function* () {
        const features = yield* featuresOf(agent)
        // Its failures are those of the layers of the agent.
        const services = yield* runtime.acquire as Effect.Effect<
          Effect.Success<typeof runtime.acquire>,
          E,
          Scope.Scope
        >
        const server = Server.layerDefault({ features }).pipe(
          Layer.provide([
            Layer.succeed(ConversationManager, Context.get(services, ConversationManager)),
            Layer.succeed(SettingsResolver, Context.get(services, SettingsResolver)),
          ]),
        )
        const mcp: McpServer.McpServerOptions = {
          version,
          serverName: { name, title },
          ownTools: [],
          events: "off",
        }
        yield* Effect.provide(McpServer.serve(connection, mcp), server)
      }),
    )
}

/**
 * Serves the agent to an MCP client over the standard streams of this process: the program to name in the configuration of
 * Claude Code and others. Resolves when the client has closed standard input. What the program prints goes to standard
 * error.
 */
export const serve = <Q, E, R, T>(
  agent: Agent<Q, E, R, T>,
  options: ServeOptions = {},
): Effect.Effect<void, E | Features.FeatureRefused, Exclude<R, Scope.Scope>> => {
  const serveOn = toMcp(agent, options)
  return Effect.scoped(
    Effect.gen(function* () {
      const stdio = yield* Effect.promise(
        () => import("@colloquy/transport-stdio/ProcessConnection"),
      )
      const connection = yield* stdio.open
      yield* Effect.ensuring(serveOn(connection), connection.flush)
    }),
  )
}
