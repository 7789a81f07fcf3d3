/** Redacts values of a configuration that may contain keys or tokens, before they are shown. Pure. */

/** Replaces a redacted value. */
export const redacted = "<redacted>"

/** Tables whose values are sent to a server or passed to a program unchanged. */
const secretTables = new Set(["http_headers", "query_params", "env"])

const secretName = /key|token|secret|password|credential/i

/** True for a path of the configuration whose value, if it is no table, is a secret; the outermost name first. */
export const isSecretKey = (path: ReadonlyArray<string>): boolean => {
  const [top, second] = path
  if (top === "shell_environment_policy" && second === "set") return true
  if (top === "model_providers" && path[2] === "experimental_bearer_token") return true
  if (top === "telemetry" && second === "otlp_headers") return true
  const inTables = top === "model_providers" || top === "mcp_servers"
  return inTables && secretTables.has(path[2] ?? "")
}

/** Redacts the user, query and fragment of an address; any other text is unchanged. */
export const withoutUserAndQuery = (text: string): string =>
  /^\w+:\/\//.test(text)
    ? text.replace(/^(\w+:\/\/)[^/@\s]*@/, `$1${redacted}@`).replace(/([?#]).*$/s, `$1${redacted}`)
    : text

/** True for a flag whose value, the next argument, is a secret. */
const takesSecret = (text: unknown): boolean =>
  typeof text === "string" && /^-[^=]*$/.test(text) && secretName.test(text)

/** Redacts an argument of a program. @param before the previous argument */
const argument = (text: string, before: unknown): string => {
  if (takesSecret(before)) return redacted
  const equals = text.indexOf("=")
  const isAssignment = equals !== -1 && secretName.test(text.slice(0, equals))
  return isAssignment ? `${text.slice(0, equals + 1)}${redacted}` : withoutUserAndQuery(text)
}

/** Redacts the secrets inside a value: in an address, or in the arguments of a program. */
export const withoutSecrets = (value: unknown): unknown => {
  if (typeof value === "string") return withoutUserAndQuery(value)
  if (!Array.isArray(value)) return value
  return value.map((one: unknown, i) =>
    typeof one === "string" ? argument(one, value[i - 1]) : one,
  )
}
