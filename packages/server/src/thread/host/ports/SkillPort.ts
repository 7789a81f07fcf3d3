/** Port: the skills of a directory, for the lists that clients show. The default has none. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** Instructions for a task, which the model reads when it needs them. */
export interface FoundSkill {
  readonly name: string
  readonly description: string
  /** Absolute path of its SKILL.md. */
  readonly path: string
  /** `user`: of the state directory. `repo`: of the project. */
  readonly scope: "user" | "repo"
}

/** The skills of one directory. */
export interface SkillList {
  readonly skills: ReadonlyArray<FoundSkill>
  /** Files that cannot be used, with the reasons. */
  readonly errors: ReadonlyArray<{ readonly path: string; readonly message: string }>
}

/** The skills that conversations get. */
export interface Skills {
  /** The skills that a conversation in this directory gets, read anew at each call. Never fails: a missing directory has none. */
  readonly list: (cwd: string) => Effect.Effect<SkillList>
  /**
   * Absolute paths of the folders that the list of this directory is read from, existing or not: a skill is a directory in one
   * of them. Never fails.
   */
  readonly folders: (cwd: string) => Effect.Effect<ReadonlyArray<string>>
}

/** There are no skills. */
export const noSkills: Skills = {
  list: () => Effect.succeed({ skills: [], errors: [] }),
  folders: () => Effect.succeed([]),
}

/** The skills of this server. */
export const SkillPort = Context.Reference<Skills>("@colloquy/server/thread/host/SkillPort", {
  defaultValue: () => noSkills,
})
