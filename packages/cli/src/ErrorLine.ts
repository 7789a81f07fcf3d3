/** An error of any kind in one line, for stderr: its name and the first line of its message, no stack. */
export const errorLine = (error: unknown): string =>
  (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).split("\n", 1)[0] ??
  ""
