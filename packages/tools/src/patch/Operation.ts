/** The vocabulary of a planned patch: files as they were found, and the operations that change them. Pure. */

/** A file as it was found. */
export type FileState =
  | { readonly _tag: "Text"; readonly text: string; readonly isExecutable: boolean }
  /** Not UTF-8. `reason` is in the words of the original. */
  | { readonly _tag: "Binary"; readonly bytes: Uint8Array; readonly reason: string }
  | { readonly _tag: "Missing" }
  | { readonly _tag: "Directory" }
  /** The file cannot be read, or even examined. `reason` is in the words of the system. */
  | { readonly _tag: "Unreadable"; readonly reason: string }

/** One operation, with absolute paths. `before` is the state that the file must still have when it is performed. */
export type Operation =
  | {
      readonly _tag: "Write"
      readonly kind: "Add" | "Update"
      readonly path: string
      readonly before: FileState
      readonly content: string
    }
  | { readonly _tag: "Delete"; readonly path: string; readonly before: FileState }
  | {
      readonly _tag: "Move"
      readonly path: string
      readonly before: FileState
      readonly to: string
      readonly toBefore: FileState
      readonly content: string
    }

/** Why a file cannot be read as text, in the words of the system. */
export const reasonOf = (state: Exclude<FileState, { readonly _tag: "Text" }>): string => {
  switch (state._tag) {
    case "Missing":
      return "No such file or directory (os error 2)"
    case "Directory":
      return "Is a directory (os error 21)"
    case "Binary":
    case "Unreadable":
      return state.reason
  }
}

/** Content for people, with U+FFFD for what is not UTF-8. */
export const contentOf = (state: FileState): string => {
  if (state._tag === "Text") return state.text
  return state._tag === "Binary" ? new TextDecoder().decode(state.bytes) : ""
}

/** The state of a file after `text` was written to it. */
export const written = (text: string, before: FileState): FileState => ({
  _tag: "Text",
  text,
  isExecutable: before._tag === "Text" && before.isExecutable,
})

/** Effects of an operation on each path it touches: the path, the state before, the state after. */
export const effectsOf = (
  operation: Operation,
): ReadonlyArray<readonly [string, FileState, FileState]> => {
  const missing: FileState = { _tag: "Missing" }
  switch (operation._tag) {
    case "Delete":
      return [[operation.path, operation.before, missing]]
    case "Write":
      return [[operation.path, operation.before, written(operation.content, operation.before)]]
    case "Move":
      return [
        [operation.path, operation.before, missing],
        [operation.to, operation.toBefore, written(operation.content, operation.before)],
      ]
  }
}
