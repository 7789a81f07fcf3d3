/**
 * Templates of URIs (RFC 6570) that have only variables: `{name}` for one segment, `{+name}` for any text. A match takes
 * time linear in the URI (L13). Pure.
 */
import * as Result from "effect/Result"

/** A parsed template. */
export interface UriTemplate {
  /** Names of the variables, in the order of the template. */
  readonly variables: ReadonlyArray<string>
  /** Values of the variables, percent-decoded, if the URI matches; else undefined. */
  readonly match: (uri: string) => Readonly<Record<string, string>> | undefined
}

/** Longer URIs match no template. In UTF-16 code units. */
const maxUriLength = 8192
const maxVariables = 16

const expression = /\{([^{}]*)\}/g
const variable = /^(\+?)([A-Za-z0-9_]+)$/

/** Undefined when the text is not valid percent-encoding. */
const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

interface Variable {
  readonly name: string
  /** True: takes any text. False: takes one segment. */
  readonly any: boolean
}

const problemOf = (template: string, variables: ReadonlyArray<Variable>): string | undefined => {
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(template)) return "expected an absolute URI: `scheme:...`"
  if (variables.length === 0) return "expected a variable in braces: `{id}`"
  if (variables.length > maxVariables) return `more than ${maxVariables} variables`
  if (new Set(variables.map(({ name }) => name)).size < variables.length) {
    return "the same variable occurs twice"
  }
  // Templates that a URI could match in several ways are rejected, because any choice could surprise their author.
  if (variables.filter(({ any }) => any).length > 1) return "more than one `{+name}`"
  if (template.includes("}{")) return "expected text between two variables"
  return /[{}]/.test(template.replaceAll(expression, ""))
    ? "a brace is not closed or not opened"
    : undefined
}

/**
 * The texts of the variables. Those before the one that takes any text reach to what follows them first, those behind
 * it from what precedes them last: nothing is tried twice, so a hostile address costs no more than another.
 */
const split = (
  uri: string,
  literals: ReadonlyArray<string>,
  widest: number,
): ReadonlyArray<string> | undefined => {
  const [head = ""] = literals
  const tail = literals.at(-1) ?? ""
  let start = head.length
  let end = uri.length - tail.length
  if (!uri.startsWith(head) || !uri.endsWith(tail) || end < start) return undefined
  const before: Array<string> = []
  for (const literal of literals.slice(1, widest + 1)) {
    const at = uri.indexOf(literal, start)
    if (at < 0 || at + literal.length > end) return undefined
    before.push(uri.slice(start, at))
    start = at + literal.length
  }
  const after: Array<string> = []
  for (const literal of literals.slice(widest + 1, -1).toReversed()) {
    const at = uri.lastIndexOf(literal, end - literal.length)
    if (at < start) return undefined
    after.unshift(uri.slice(at + literal.length, end))
    end = at
  }
  return [...before, uri.slice(start, end), ...after]
}

const valueOf = (text: string, { any }: Variable): string | undefined =>
  text === "" || (!any && /[/?#]/.test(text)) ? undefined : decoded(text)

/** The parsed template, or the reason why it is invalid. */
export const parse = (template: string): Result.Result<UriTemplate, string> => {
  const variables: Array<Variable> = []
  const literals: Array<string> = []
  let end = 0
  for (const { 0: whole, 1: inner = "", index } of template.matchAll(expression)) {
    const [, plus, name] = variable.exec(inner) ?? []
    if (name === undefined) return Result.fail(`\`${whole}\` is not \`{name}\` or \`{+name}\``)
    variables.push({ name, any: plus === "+" })
    literals.push(template.slice(end, index))
    end = index + whole.length
  }
  const problem = problemOf(template, variables)
  if (problem !== undefined) return Result.fail(problem)
  literals.push(template.slice(end))
  const any = variables.findIndex((one) => one.any)
  const widest = any < 0 ? variables.length - 1 : any
  return Result.succeed({
    variables: variables.map(({ name }) => name),
    match: (uri) => {
      const texts = uri.length > maxUriLength ? undefined : split(uri, literals, widest)
      if (texts === undefined) return undefined
      const params = new Map<string, string>()
      for (const [i, one] of variables.entries()) {
        const value = valueOf(texts[i] ?? "", one)
        if (value === undefined) return undefined
        params.set(one.name, value)
      }
      // `Object.fromEntries` defines members, so a variable named `__proto__` is safe.
      return Object.fromEntries(params)
    },
  })
}
