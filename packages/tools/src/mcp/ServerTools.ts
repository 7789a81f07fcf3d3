/**
 * Reads the tools that a server lists. Pure and bounded; an invalid entry is left out without affecting the others.
 *
 * `McpClient` refuses a whole listing because of one entry that violates the schema, so entries are corrected first.
 */
import { type JsonSchema, sanitize } from "./SchemaSanitizer.ts"

/** A tool as its server describes it. */
export interface ServerTool {
  readonly name: string
  readonly title?: string
  readonly description?: string
  /** Sanitized: providers accept it. */
  readonly inputSchema: JsonSchema
  readonly annotations?: Readonly<Record<string, string | boolean>>
}

/** More than any provider accepts in one request. */
export const maxTools = 512
const maxNameChars = 1_024
const maxDescriptionChars = 16 * 1024

const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]

const isRecord = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const text = (u: unknown): string | undefined =>
  typeof u === "string" ? u.slice(0, maxDescriptionChars).toWellFormed() : undefined

const annotationsOf = (u: unknown): Readonly<Record<string, string | boolean>> | undefined => {
  if (!isRecord(u)) return undefined
  const out: Record<string, string | boolean> = {}
  const title = text(u["title"])
  if (title !== undefined) out["title"] = title
  for (const hint of hints) {
    const value = u[hint]
    if (typeof value === "boolean") out[hint] = value
  }
  return out
}

const readTool = (u: unknown): ServerTool | undefined => {
  if (!isRecord(u)) return undefined
  const { name } = u
  if (typeof name !== "string" || name === "" || name.length > maxNameChars) return undefined
  // This client cannot call a tool that can only be called as a task.
  if (isRecord(u["execution"]) && u["execution"]["taskSupport"] === "required") return undefined
  const title = text(u["title"])
  const description = text(u["description"])
  const annotations = annotationsOf(u["annotations"])
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    inputSchema: sanitize(u["inputSchema"]),
    ...(annotations === undefined ? {} : { annotations }),
  }
}

/** The usable entries of one page, at most 512; of several with the same name the first. */
export const readTools = (tools: unknown): ReadonlyArray<ServerTool> => {
  const byName = new Map<string, ServerTool>()
  for (const each of Array.isArray(tools) ? tools : []) {
    if (byName.size >= maxTools) break
    const tool = readTool(each)
    if (tool !== undefined && !byName.has(tool.name)) byName.set(tool.name, tool)
  }
  return [...byName.values()]
}

/** What the server says of whether the tool changes nothing, unverified; undefined if it says nothing. */
export const readOnlyHintOf = ({
  annotations,
}: Pick<ServerTool, "annotations">): boolean | undefined => {
  const hint = annotations?.["readOnlyHint"]
  return typeof hint === "boolean" ? hint : undefined
}

/** True when the server says that the tool changes nothing, unverified. */
export const isReadOnly = (tool: Pick<ServerTool, "annotations">): boolean =>
  readOnlyHintOf(tool) === true
