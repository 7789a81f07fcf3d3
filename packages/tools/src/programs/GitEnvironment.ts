/**
 * Environment of every `git` that the server starts, besides that of `ServerProgram`: no configuration of the system or
 * of a user, no question at a terminal, no fetching of missing objects, no locks. Part of L15.
 */
export const gitVariables: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_PAGER: "cat",
}
