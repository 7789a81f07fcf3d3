/** A package cannot be released. The message names the package, the field or file, and what was expected of it. */
export class ReleaseError extends Error {
  override readonly name = "ReleaseError"
}
