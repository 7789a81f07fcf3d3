/** Tool calls put together from the deltas of one chat response (§6.6). */
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { parseJson } from "@colloquy/protocol/Json"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { makeCallIds } from "./GivenCallIds.ts"
import { isObject } from "./JsonObject.ts"

const nullable = <T, E>(schema: Schema.Codec<T, E>) => Schema.optional(Schema.NullOr(schema))

export const ToolCallDelta = Schema.Struct({
  index: nullable(Schema.Int),
  id: nullable(Schema.String),
  function: nullable(
    Schema.Struct({
      name: nullable(Schema.String),
      /** JSON text in pieces; some providers give the object itself. */
      arguments: Schema.optional(Schema.Unknown),
    }),
  ),
  custom: nullable(
    Schema.Struct({ name: nullable(Schema.String), input: nullable(Schema.String) }),
  ),
})
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

export interface ToolCalls {
  readonly add: (delta: ToolCallDelta) => void
  /** True when no call has a name or arguments. */
  readonly isEmpty: () => boolean
  /** True when every call has a name and a JSON object as arguments: then no piece of one is missing. */
  readonly areWhole: () => boolean
  /** Number of calls that have neither a name nor arguments. */
  readonly blanks: () => number
  /** The other calls in order of appearance, or what is wrong with one. */
  readonly items: () => { readonly items: ReadonlyArray<ResponseItem> } | { readonly fault: string }
}

/**
 * Pieces belong together by `index`; without one, to the call with their id, or to the last call. A second id under
 * one index is a second call: some providers number every call 0.
 */
export const makeToolCalls = (history: ReadonlyArray<string>): ToolCalls => {
  const calls: Array<Call> = []
  const byIndex = new Map<number, Call>()
  const byId = new Map<string, Call>()

  const find = ({ index, id }: ToolCallDelta): Call | undefined => {
    const found = typeof index === "number" ? byIndex.get(index) : id ? byId.get(id) : calls.at(-1)
    return found !== undefined && id && found.id !== "" && found.id !== id ? undefined : found
  }
  const open = (delta: ToolCallDelta): Call => {
    const call: Call = {
      custom: delta.custom !== undefined && delta.custom !== null,
      id: "",
      name: "",
      input: "",
    }
    calls.push(call)
    if (typeof delta.index === "number") byIndex.set(delta.index, call)
    return call
  }

  return {
    add: (delta) => {
      const call = find(delta) ?? open(delta)
      call.id ||= delta.id ?? ""
      if (call.id !== "" && !byId.has(call.id)) byId.set(call.id, call)
      call.name ||= delta.function?.name ?? delta.custom?.name ?? ""
      call.input += argumentText(delta.function?.arguments) + (delta.custom?.input ?? "")
    },
    isEmpty: () => calls.every(isBlank),
    blanks: () => calls.filter(isBlank).length,
    // Free text has no end of its own, so that a custom call cannot be known to be whole.
    areWhole: () =>
      calls.every(
        (call) =>
          isBlank(call) ||
          (!call.custom &&
            call.name !== "" &&
            isObject(Result.getOrUndefined(parseJson(call.input)))),
      ),
    items: () => {
      const given = calls.filter((call) => !isBlank(call))
      const nameless = given.findIndex(({ name }) => name === "")
      if (nameless !== -1) return { fault: `tool call ${nameless} has no function name` }
      const callId = makeCallIds(
        history,
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
    },
  }
}
