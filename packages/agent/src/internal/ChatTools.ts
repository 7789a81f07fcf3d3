/**
 * The tools of an agent's conversations. Each open chat registers those of its own conversation, made with the services of
 * its `open`; a conversation that no chat has open has none. With those of a machine, a call that none of its own tools
 * has goes there.
 */
import {
  type ToolCall,
  type ToolContext,
  type ToolRuntime,
  type TurnTools,
  unsupportedCall,
} from "@colloquy/core/ToolRuntime"
import type { ToolSpec } from "@colloquy/core/ModelClient"
import { defined, type OptionalMembers } from "@colloquy/protocol/Defined"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { includesTool } from "../Machine.ts"
import type { ConversationTool } from "../Tool.ts"

/** Tools by the name by which the model calls them. */
export type ToolsByName = ReadonlyMap<string, ConversationTool>

/** What one chat can use. */
export interface ToolsOfChat {
  /** Its own tools. */
  readonly own: ToolsByName
  /** Names of the machine's tools that it can use. Undefined: all that its agent has. */
  readonly ofMachine: ReadonlyArray<string> | undefined
}

const specName = (spec: ToolSpec): string => ("name" in spec ? spec.name : spec.type)

const callName = (call: ToolCall): string =>
  call.type === "local_shell_call" ? "local_shell" : call.name

const openOwn = (tools: ToolsByName, context: ToolContext): TurnTools => {
  const all = [...tools.values()].map(({ tool }) => tool)
  const found = (call: ToolCall) =>
    call.type === "function_call" ? tools.get(call.name)?.tool : undefined
  return {
    specs: Effect.sync(() => all.flatMap((tool) => tool.spec(context.settings) ?? [])),
    isReadOnly: (call) => found(call)?.isReadOnly(call, context.settings) ?? false,
    questionOf: (call) => found(call)?.questionOf?.(call),
    run: (call) => {
      const tool = found(call)
      return tool === undefined
        ? Effect.succeed({ output: unsupportedCall(call) })
        : tool.run(call, context)
    },
  }
}

/** The chat's own tools, then those of the machine that it can use. An own tool replaces one of the same name. */
const both = (chat: ToolsOfChat, own: TurnTools, machine: TurnTools): TurnTools => {
  const { ofMachine, own: tools } = chat
  const isUsable = (name: string): boolean =>
    !tools.has(name) && (ofMachine === undefined || includesTool(ofMachine, name))
  // The own tools answer a call that neither has.
  const of = (call: ToolCall): TurnTools => (isUsable(callName(call)) ? machine : own)
  return {
    specs: Effect.zipWith(own.specs, machine.specs, (first, rest) => [
      ...first,
      ...rest.filter((spec) => isUsable(specName(spec))),
    ]),
    isReadOnly: (call) => of(call).isReadOnly(call),
    run: (call) => of(call).run(call),
    ...defined({
      questionOf: (call: ToolCall) => of(call).questionOf?.(call),
      replayOf: (call: ToolCall) =>
        of(call).replayOf?.(call) ?? (of(call).isReadOnly(call) ? "safe" : "ask"),
      // A chat without the machine's shells runs no commands of its user either.
      runUserCommand: isUsable("shell") ? machine.runUserCommand?.bind(machine) : undefined,
    } satisfies OptionalMembers<TurnTools>),
  }
}

/** Those of all open chats. */
export class ChatTools {
  private readonly open = new Map<string, Array<ToolsOfChat>>()
  private readonly ofAsking = new Map<string, ToolsOfChat>()

  /**
   * Gives the conversation these tools until the scope closes. Of several chats of one conversation the last one's count
   * for turns that no chat asks, such as one that is resumed.
   */
  register(conversationId: string, tools: ToolsOfChat): Effect.Effect<void, never, Scope.Scope> {
    return Effect.asVoid(
      Effect.acquireRelease(
        Effect.sync(() => {
          this.open.set(conversationId, [...(this.open.get(conversationId) ?? []), tools])
        }),
        () =>
          Effect.sync(() => {
            const left = (this.open.get(conversationId) ?? []).filter((one) => one !== tools)
            if (left.length === 0) this.open.delete(conversationId)
            else this.open.set(conversationId, left)
          }),
      ),
    )
  }

  /** Gives the turn that a chat asks exactly its tools until the scope closes. One chat of a conversation asks at a time. */
  asking(conversationId: string, tools: ToolsOfChat): Effect.Effect<void, never, Scope.Scope> {
    return Effect.asVoid(
      Effect.acquireRelease(
        Effect.sync(() => this.ofAsking.set(conversationId, tools)),
        () => Effect.sync(() => this.ofAsking.delete(conversationId)),
      ),
    )
  }

  private of(conversationId: string): ToolsOfChat {
    return (
      this.ofAsking.get(conversationId) ??
      this.open.get(conversationId)?.at(-1) ?? { own: new Map(), ofMachine: [] }
    )
  }

  /** The port of the core, which looks the tools up for each turn. */
  readonly runtime: ToolRuntime["Service"] = {
    open: (context) => Effect.sync(() => openOwn(this.of(context.conversationId).own, context)),
    listMcpTools: () => Effect.succeed({}),
  }

  /** The port of the core with the tools of a machine as well. */
  with(machine: ToolRuntime["Service"]): ToolRuntime["Service"] {
    return {
      ...machine,
      open: (context) =>
        Effect.suspend(() => {
          const tools = this.of(context.conversationId)
          const own = openOwn(tools.own, context)
          return Effect.map(machine.open(context), (opened) => both(tools, own, opened))
        }),
    }
  }
}
