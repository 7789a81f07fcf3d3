/**
 * The tools of an agent's conversations. Each open chat registers those of its own conversation, made with the services of
 * its `open`; a conversation that no chat has open has none. With those of a machine, a call that none of its own tools
 * has goes there.
 */
import { type ToolCall, unsupportedCall, type ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { ToolSpec } from "@colloquy/core/ModelClient"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ConversationTool } from "../Tool.ts"

/** Tools by the name by which the model calls them. */
export type ToolsByName = ReadonlyMap<string, ConversationTool>

const nameOf = (spec: ToolSpec): string | undefined => ("name" in spec ? spec.name : undefined)

/** Those of all open chats. */
export class ChatTools {
  private readonly open = new Map<string, Array<ToolsByName>>()

  /** Gives the conversation these tools until the scope closes; of several chats of one conversation the last one's count. */
  register(conversationId: string, tools: ToolsByName): Effect.Effect<void, never, Scope.Scope> {
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

  /** The port of the core, which looks the tools up for each turn. */
  readonly runtime: ToolRuntime["Service"] = {
    open: (context) =>
      Effect.sync(() => {
        const tools: ToolsByName = this.open.get(context.conversationId)?.at(-1) ?? new Map()
        const all = [...tools.values()].map(({ tool }) => tool)
        return {
          specs: Effect.sync(() => all.flatMap((tool) => tool.spec(context.settings) ?? [])),
          isReadOnly: (call) =>
            call.type === "function_call" &&
            (tools.get(call.name)?.tool.isReadOnly(call, context.settings) ?? false),
          run: (call) => {
            const found = call.type === "function_call" ? tools.get(call.name)?.tool : undefined
            return found === undefined
              ? Effect.succeed({ output: unsupportedCall(call) })
              : found.run(call, context)
          },
        }
      }),
    listMcpTools: () => Effect.succeed({}),
  }

  /** The port of the core with the tools of a machine as well. A tool of the chat replaces one of the same name. */
  with(machine: ToolRuntime["Service"]): ToolRuntime["Service"] {
    return {
      ...machine,
      open: (context) =>
        Effect.gen({ self: this }, function* () {
          const own = yield* this.runtime.open(context)
          const others = yield* machine.open(context)
          const names = () => this.open.get(context.conversationId)?.at(-1) ?? new Map()
          const isOwn = (call: ToolCall) => call.type === "function_call" && names().has(call.name)
          const { replayOf } = others
          return {
            specs: Effect.zipWith(own.specs, others.specs, (first, rest) => {
              const taken = new Set(first.flatMap((spec) => nameOf(spec) ?? []))
              return [...first, ...rest.filter((spec) => !taken.has(nameOf(spec) ?? ""))]
            }),
            isReadOnly: (call) => (isOwn(call) ? own : others).isReadOnly(call),
            run: (call) => (isOwn(call) ? own : others).run(call),
            ...(replayOf === undefined
              ? {}
              : { replayOf: (call) => (isOwn(call) ? own.replayOf : replayOf)?.(call) ?? "ask" }),
          }
        }),
    }
  }
}
