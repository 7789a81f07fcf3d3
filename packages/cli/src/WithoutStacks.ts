/**
 * Loads modules with stack traces disabled, because a client is waiting. Effect reads a stack trace while it loads, for
 * which V8 counts the lines of the whole bundle; without stack traces it skips this.
 */
export const withoutStacks = async <A>(load: () => Promise<A>): Promise<A> => {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return await load()
  } finally {
    Error.stackTraceLimit = limit
  }
}
