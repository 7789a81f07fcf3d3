/** Computes which client capability a question needs, and which needed capabilities a client did not declare. Pure. */
import { CreateMessage, RootsList } from "@colloquy/protocol/mcp/ClientFeatures"
import { Elicit } from "@colloquy/protocol/mcp/CodexMcp"
import { infoOf, type Method } from "@colloquy/protocol/Method"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import type { InputRequest, Members } from "../RequestContext.ts"

/** True for a JSON object, false for an array. */
export const isMembers = (u: unknown): u is Members =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** True if a capabilities object has a member of that name. Null means absent. */
export const hasPart = (declared: Members, part: string): boolean =>
  memberOf(declared, part) !== undefined

const capability = (method: Method): string => infoOf(method).capability ?? ""

/** The capabilities that a question needs, as a capabilities object such as `{ elicitation: { url: {} } }`. */
export const neededFor = ({ method, params }: InputRequest): Members => {
  switch (method) {
    case Elicit._tag:
      return { [capability(Elicit)]: params?.["mode"] === "url" ? { url: {} } : { form: {} } }
    case CreateMessage._tag:
      return {
        [capability(CreateMessage)]: params?.["tools"] === undefined ? {} : { tools: {} },
      }
    case RootsList._tag:
      return { [capability(RootsList)]: {} }
  }
}

/** Adds `form` to an elicitation capability that does not name `url`: `elicitation: {}` means forms (2025-11-25). */
const spelledOut = (name: string, declared: Members): Members =>
  name === capability(Elicit) && !hasPart(declared, "url") ? { ...declared, form: {} } : declared

/** The part of `needed` that is not declared, as a capabilities object. Undefined if everything is declared. */
export const missingIn = (declared: Members, needed: Members): Members | undefined => {
  const missing: Record<string, unknown> = {}
  for (const [name, parts] of Object.entries(needed)) {
    const has = memberOf(declared, name)
    if (!isMembers(has)) {
      missing[name] =
        name === capability(Elicit) && isMembers(parts) && "form" in parts ? {} : parts
      continue
    }
    const known = spelledOut(name, has)
    const lacking = isMembers(parts)
      ? Object.entries(parts).filter(([part]) => !hasPart(known, part))
      : []
    if (lacking.length > 0) missing[name] = Object.fromEntries(lacking)
  }
  return Object.keys(missing).length === 0 ? undefined : missing
}
