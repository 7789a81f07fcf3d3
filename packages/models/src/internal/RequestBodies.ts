/**
 * Encodes the bodies of requests as JSON. What requests have in common is encoded once: the instructions, the tools, and the
 * items of a history. All of it is kept as bytes, because one character outside of Latin-1 would make V8 store and encode a
 * whole body with two bytes for each character.
 *
 * Every body is byte for byte what `JSON.stringify` and UTF-8 give.
 */
import type { ModelRequest, ToolSpec } from "@colloquy/core/ModelClient"
import { HistoryBytes } from "./HistoryBytes.ts"

/** What a wire's body consists of. */
export interface BodyShape {
  /** The body. `instructions` and `input` are those of the request where they are members of it. */
  readonly body: (request: ModelRequest) => Readonly<Record<string, unknown>>
  /** One element of the member `tools`; undefined for a tool that has no form on this wire. */
  readonly tool: (spec: ToolSpec) => unknown
}

/** Number of instructions that are kept; conversations have the built-in ones or those of a few projects. */
const maxInstructions = 8

const encoder = new TextEncoder()
const encode = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value))

interface EncodedTool {
  readonly name: string
  readonly description: string
  readonly bytes: Uint8Array
}

const join = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

const comma = encoder.encode(",")
const open = encoder.encode("[")
const close = encoder.encode("]")

/** The bodies of one wire's requests. */
export class RequestBodies {
  private readonly shape: BodyShape
  private readonly histories = new HistoryBytes()
  private readonly tools = new WeakMap<object, EncodedTool>()
  private instructions: ReadonlyArray<{ readonly text: string; readonly bytes: Uint8Array }> = []

  constructor(shape: BodyShape) {
    this.shape = shape
  }

  /** The body of a request. */
  encode(request: ModelRequest): Uint8Array {
    const parts: Array<Uint8Array> = []
    // The text between two kept parts.
    let text = "{"
    const add = (...kept: ReadonlyArray<Uint8Array>) => {
      parts.push(encoder.encode(text), ...kept)
      text = ""
    }
    for (const [name, value] of Object.entries(this.shape.body(request))) {
      if (value === undefined) continue
      text += `${text === "{" && parts.length === 0 ? "" : ","}${JSON.stringify(name)}:`
      if (value === request.input) add(open, this.histories.of(request.input), close)
      else if (name === "instructions") add(this.instructionsOf(request.instructions))
      else if (name === "tools") add(open, ...this.toolsOf(request.tools), close)
      else text += JSON.stringify(value)
    }
    text += "}"
    add()
    return join(parts)
  }

  private instructionsOf(text: string): Uint8Array {
    const found = this.instructions.find((known) => known.text === text)
    if (found !== undefined) return found.bytes
    const bytes = encode(text)
    this.instructions = [{ text, bytes }, ...this.instructions].slice(0, maxInstructions)
    return bytes
  }

  private toolsOf(specs: ReadonlyArray<ToolSpec>): ReadonlyArray<Uint8Array> {
    const parts: Array<Uint8Array> = []
    for (const spec of specs) {
      const bytes = this.toolOf(spec)
      if (bytes === undefined) continue
      if (parts.length > 0) parts.push(comma)
      parts.push(bytes)
    }
    return parts
  }

  /** A tool is described anew for every turn, but its parameters remain the same object. */
  private toolOf(spec: ToolSpec): Uint8Array | undefined {
    if (spec.type !== "function") {
      const other = this.shape.tool(spec)
      return other === undefined ? undefined : encode(other)
    }
    const { description, name, parameters } = spec
    const known = this.tools.get(parameters)
    if (known?.name === name && known.description === description) return known.bytes
    const bytes = encode(this.shape.tool(spec))
    this.tools.set(parameters, { name, description, bytes })
    return bytes
  }
}
