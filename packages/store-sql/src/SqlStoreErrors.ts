/** Errors of a store in a database that only its start has. */
import * as Schema from "effect/Schema"

/** The tables were made by a later version of this program, which does not change or use them. */
export class SchemaTooNew extends Schema.TaggedError<SchemaTooNew>()("SchemaTooNew", {
  /** Number of the last migration in the database. */
  found: Schema.Int,
  /** Number of the last migration that this program knows. */
  known: Schema.Int,
}) {
  override get message() {
    return `the tables of the database have version ${this.found}, which a later version of Colloquy made; this one knows versions up to ${this.known}`
  }
}
