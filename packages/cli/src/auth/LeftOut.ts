/** Why a login of the original that is there is not used, as a clause. Apart: every start loads it. */
export const leftOut = (path: string): string =>
  `the login of codex in ${path} is not used because \`login.from_codex\` is false`
