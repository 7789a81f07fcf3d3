/** Assembles tool calls from the deltas of one chat response. */
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { parseJson } from "@colloquy/protocol/Json"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { makeCallIds } from "./CallIds.ts"
import { isObject } from "./JsonObject.ts"

const nullable = <T, E>(schema: Schema.Codec<T, E>) => Schema.optional(Schema.NullOr(schema))

/** A piece of a tool call. */
export const ToolCallDelta = Schema.Struct({
  index: nullable(Schema.Int),
  id: nullable(Schema.String),
  function: nullable(
    Schema.Struct({
      name: nullable(Schema.String),
      /** JSON text in pieces; some providers send the object itself. */
      arguments: Schema.optional(Schema.Unknown),
    }),
  ),
  custom: nullable(
    Schema.Struct({ name: nullable(Schema.String), input: nullable(Schema.String) }),
  ),
})
/** A piece of a tool call. */
export type ToolCallDelta = typeof ToolCallDelta.Type

interface Call {
  readonly custom: boolean
  id: string
  name: string
  input: string
}

const isBlank = ({ name, input }: Call): boolean => name === "" && input === ""

const argumentText = (u: unknown): string =>
  typeof u === "string" ? u : u === undefined || u === null ? "" : JSON.stringify(u)

/** The tool calls of one response. */
export interface ToolCalls {
  /** Adds a piece to its call. */
  readonly add: (delta: ToolCallDelta) => void
  /** True when no call has a name or arguments. */
  readonly isEmpty: () => boolean
  /**
   * True when every call has a name and a JSON object as arguments, which means that no piece is
   * missing.
   */
  readonly areWhole: () => boolean
  /** Number of calls that have neither a name nor arguments. */
  readonly blanks: () => number
  /** The other calls in order of appearance, or what is wrong with one of them. */
  readonly items: () =>
    | { readonly items: ReadonlyArray<ResponseItem> }
    | {
        /** Names the call by its index and says what it lacks. */
        readonly fault: string
      }
}

class AssembledCalls implements ToolCalls {
  private readonly history: () => ReadonlyArray<string>
  private readonly calls: Array<Call> = []
  private readonly byIndex = new Map<number, Call>()
  private readonly byId = new Map<string, Call>()

  constructor(history: () => ReadonlyArray<string>) {
    this.history = history
  }

  add(delta: ToolCallDelta): void {
    const call = this.find(delta) ?? this.open(delta)
    call.id ||= delta.id ?? ""
    if (call.id !== "" && !this.byId.has(call.id)) this.byId.set(call.id, call)
    call.name ||= delta.function?.name ?? delta.custom?.name ?? ""
    call.input += argumentText(delta.function?.arguments) + (delta.custom?.input ?? "")
  }

  isEmpty(): boolean {
    return this.calls.every(isBlank)
  }

  blanks(): number {
    return this.calls.filter(isBlank).length
  }

  areWhole(): boolean {
    return this.calls.every((call) => isBlank(call) || isWhole(call))
  }

  items(): ReturnType<ToolCalls["items"]> {
    const given = this.calls.filter((call) => !isBlank(call))
    const nameless = given.findIndex(({ name }) => name === "")
    if (nameless !== -1) return { fault: `tool call ${nameless} has no function name` }
    const callId = makeCallIds(
      this.history,
      given.map(({ id }) => id),
    )
    return {
      items: given.map(({ custom, id, name, input }) => {
        const call_id = callId(id)
        return custom
          ? { type: "custom_tool_call", call_id, name, input }
          : { type: "function_call", name, arguments: input, call_id }
      }),
    }
  }

  private find({ index, id }: ToolCallDelta): Call | undefined {
    const found =
      typeof index === "number"
        ? this.byIndex.get(index)
        : id
          ? this.byId.get(id)
          : this.calls.at(-1)
    return found !== undefined && id && found.id !== "" && found.id !== id ? undefined : found
  }

  private open(delta: ToolCallDelta): Call {
    const custom = delta.custom !== undefined && delta.custom !== null
    const call: Call = { custom, id: "", name: "", input: "" }
    this.calls.push(call)
    if (typeof delta.index === "number") this.byIndex.set(delta.index, call)
    return call
  }
}

/** Free text has no recognizable end, so a custom call is never known to be complete. */
const isWhole = ({ custom, input, name }: Call): boolean =>
  !custom && name !== "" && isObject(Result.getOrUndefined(parseJson(input)))

/**
 * Assembles pieces by `index`; a piece without one belongs to the call with its id, or to the last
 * call. A second id under the same index is a second call, because some providers number every call
 * 0.
 *
 * @param history ids of the calls in the history, evaluated when a call has no id; it gets one that
 * differs from them
 */
export const makeToolCalls = (history: () => ReadonlyArray<string>): ToolCalls =>
  new AssembledCalls(history)
