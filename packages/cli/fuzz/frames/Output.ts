/** Reads the output of a server line by line, and detects malformed messages (L9, L13). Pure. */
import { Violation } from "@colloquy/simulation/fuzz/Edge"
import * as Tree from "@colloquy/simulation/fuzz/JsonTree"
import { type IdKey, idOf, memberOf, noId } from "./Expected.ts"

/** One response of a server. */
export interface Response {
  readonly id: IdKey
  readonly succeeded: boolean
}

type Members = Readonly<Record<string, unknown>>

const isMembers = (u: unknown): u is Members =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const shown = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)}…` : text)

const l9 = (problem: string, text: string) =>
  new Violation({ law: "L9", message: `writes ${problem}: ${shown(text)}` })

const l13 = (problem: string, text: string) =>
  new Violation({ law: "L13", message: `${problem}: ${shown(text)}` })

/** An error must name the fault and its place; an internal error is a violation, because no input may cause a defect. */
const errorFault = (error: unknown, text: string): Violation | undefined => {
  if (!isMembers(error)) return l9("an error that is no object", text)
  const { code, message } = error
  if (!Number.isSafeInteger(code)) return l9("an error without a code", text)
  if (typeof message !== "string" || message === "") return l9("an error without a message", text)
  if (code === -32603 && message === "Internal error") return l13("an internal error", text)
  return code === -32602 && message.startsWith("Invalid params") && !/\bparams[.:[]/.test(message)
    ? l13("an error that names no path of the fault", text)
    : undefined
}

const responseFault = (message: Members, text: string): Violation | undefined => {
  if ("result" in message === "error" in message) {
    return l9("a response without a result or an error, or with both", text)
  }
  return "error" in message ? errorFault(message["error"], text) : undefined
}

const callFault = ({ method, params }: Members, text: string): Violation | undefined => {
  if (typeof method !== "string" || method === "") return l9("a call without a method", text)
  return params === undefined || (typeof params === "object" && params !== null)
    ? undefined
    : l9("params that are neither an object nor an array", text)
}

const messageFault = (message: unknown, text: string, bare: boolean): Violation | undefined => {
  if (!isMembers(message)) return l9("a value that is not a message", text)
  const version = message["jsonrpc"]
  if (version !== "2.0" && !(bare && version === undefined)) return l9("another protocol", text)
  return "method" in message ? callFault(message, text) : responseFault(message, text)
}

const at = (tree: Tree.JsonTree, ...path: ReadonlyArray<string>): Tree.JsonTree | undefined =>
  path.reduce<Tree.JsonTree | undefined>(
    (inner, name) => (inner === undefined ? undefined : memberOf(inner, name)),
    tree,
  )

const responseOf = (tree: Tree.JsonTree): ReadonlyArray<Response> => {
  if (memberOf(tree, "method") !== undefined) return []
  // A request with an id in use is refused with an error without an id; `data.id` names it.
  const id = idOf(memberOf(tree, "id")) ?? idOf(at(tree, "error", "data", "id"))
  return [{ id: id?.[0] ?? noId, succeeded: memberOf(tree, "result") !== undefined }]
}

const readLine = (line: string, bare: boolean): Violation | ReadonlyArray<Response> => {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return l9("a line that is not JSON", line)
  }
  const messages: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  if (messages.length === 0) return l9("an empty batch", line)
  for (const message of messages) {
    const fault = messageFault(message, line, bare)
    if (fault !== undefined) return fault
  }
  const tree = Tree.parse(line)
  if (tree === undefined) return l9("a line that nests too deep", line)
  return tree.kind === "array" ? tree.items.flatMap(responseOf) : responseOf(tree)
}

/**
 * The responses in the output, in order, or the first fault.
 *
 * @param bare whether messages may omit the member `jsonrpc`
 */
export const responsesIn = (text: string, bare: boolean): Violation | ReadonlyArray<Response> => {
  if (text !== "" && !text.endsWith("\n")) return l9("a line without its end", text.slice(-100))
  const responses: Array<Response> = []
  for (const line of text.split("\n").slice(0, -1)) {
    const read = readLine(line, bare)
    if (read instanceof Violation) return read
    responses.push(...read)
  }
  return responses
}
