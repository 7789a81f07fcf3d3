/** Says why a login of the original is not used, as a clause. A file of its own because every start loads it. */
export const excludedLogin = (path: string): string =>
  `the login of codex in ${path} is not used because \`login.from_codex\` is false`
