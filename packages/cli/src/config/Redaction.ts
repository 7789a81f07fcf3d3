/** What of a configuration nobody is shown: values that people put keys and tokens in. Pure. */

export const redacted = "<redacted>"

/** Tables whose values are sent to a server, or given to a program, as they are. */
const secretTables = new Set(["http_headers", "query_params", "env"])

const secretName = /key|token|secret|password|credential/i

/** Names of variables are no secrets; what they hold is never in a configuration. */
const variableName = /^(env_key|env_key_instructions|bearer_token_env_var|env_http_headers)$/

/** True for the value at a path of the configuration; the outermost name first. */
export const isSecretKey = (path: ReadonlyArray<string>): boolean => {
  if (path.some((name) => variableName.test(name))) return false
  const [top, second] = path
  if (top === "shell_environment_policy" && second === "set") return true
  if (top === "model_providers" && path[2] === "experimental_bearer_token") return true
  const inTables = (top === "model_providers" || top === "mcp_servers") && path.length > 3
  return inTables && secretTables.has(path[2] ?? "")
}

/** An address without its user, query and fragment; any other text stays. */
export const withoutUserAndQuery = (text: string): string =>
  /^\w+:\/\//.test(text)
    ? text.replace(/^(\w+:\/\/)[^/@\s]*@/, `$1${redacted}@`).replace(/([?#]).*$/s, `$1${redacted}`)
    : text

/** True for a flag that takes a secret as the next argument. */
const asksForSecret = (text: unknown): boolean =>
  typeof text === "string" && /^-[^=]*$/.test(text) && secretName.test(text)

/** An argument of a program. */
const argument = (text: string, before: unknown): string => {
  if (asksForSecret(before)) return redacted
  const equals = text.indexOf("=")
  const isAssignment = equals !== -1 && secretName.test(text.slice(0, equals))
  return isAssignment ? `${text.slice(0, equals + 1)}${redacted}` : withoutUserAndQuery(text)
}

/** A value that may carry a secret beside what it says: an address, the arguments of a program. */
export const withoutSecrets = (value: unknown): unknown => {
  if (typeof value === "string") return withoutUserAndQuery(value)
  if (!Array.isArray(value)) return value
  return value.map((one: unknown, i) =>
    typeof one === "string" ? argument(one, value[i - 1]) : one,
  )
}
