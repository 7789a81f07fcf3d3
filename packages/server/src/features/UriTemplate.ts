/** Templates of addresses (RFC 6570) with variables alone: `{name}` for one segment, `{+name}` for any text. Pure. */
import * as Result from "effect/Result"

export interface UriTemplate {
  readonly variables: ReadonlyArray<string>
  /** The variables of an address of this form, percent-decoded; undefined for any other address. */
  readonly match: (uri: string) => Readonly<Record<string, string>> | undefined
}

/** Longer addresses match nothing. In UTF-16 code units. */
const maxUriLength = 8192
const maxVariables = 16

const expression = /\{([^{}]*)\}/g
const variable = /^(\+?)([A-Za-z0-9_]+)$/

const escaped = (literal: string) => literal.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)

/** Undefined when it is no percent-encoding. */
const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const problemOf = (template: string, names: ReadonlyArray<string>): string | undefined => {
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(template)) return "expected an address: `scheme:...`"
  if (names.length === 0) return "expected a variable in braces: `{id}`"
  if (names.length > maxVariables) return `more than ${maxVariables} variables`
  if (new Set(names).size < names.length) return "a variable is there twice"
  // Two that touch could share one text in more than one way, and in a time that grows with it.
  if (template.includes("}{")) return "expected something between two variables"
  return /[{}]/.test(template.replaceAll(expression, "")) ? "a brace without the other" : undefined
}

export const parse = (template: string): Result.Result<UriTemplate, string> => {
  const names: Array<string> = []
  let pattern = "^"
  let end = 0
  for (const { 0: whole, 1: inner = "", index } of template.matchAll(expression)) {
    const [, plus, name] = variable.exec(inner) ?? []
    if (name === undefined) return Result.fail(`\`${whole}\` is not \`{name}\` or \`{+name}\``)
    names.push(name)
    pattern += escaped(template.slice(end, index)) + (plus === "+" ? "(.+)" : "([^/?#]+)")
    end = index + whole.length
  }
  const problem = problemOf(template, names)
  if (problem !== undefined) return Result.fail(problem)
  const form = new RegExp(`${pattern}${escaped(template.slice(end))}$`, "u")
  return Result.succeed({
    variables: names,
    match: (uri) => {
      const found = uri.length > maxUriLength ? null : form.exec(uri)
      if (found === null) return undefined
      const values = found.slice(1).map(decoded)
      const params: Record<string, string> = {}
      for (const [i, name] of names.entries()) {
        const value = values[i]
        if (value === undefined) return undefined
        params[name] = value
      }
      return params
    },
  })
}
