/**
 * What of `node:fs` is needed before the first answer. Not imported by name: the module that `import` makes of it reads
 * every member of it at once, and one of them loads all of Node's file streams while a client waits.
 */
export const { statSync } = process.getBuiltinModule("node:fs")
