/**
 * The functions of `node:fs` that are needed before the first response. They are not imported by name because `import`
 * reads every member of the module, and one of them loads all of Node's file streams while the client waits.
 */
export const { statSync } = process.getBuiltinModule("node:fs")
