/**
 * Skills: directories with a SKILL.md, of the user (`skills` in the state directory) and of a project (`.agents/skills` and
 * `.codex/skills`, from the root of the repository down to the working directory). They are read when a conversation is
 * created, and offered to its model. A file of a project that leads to a secret is not read.
 */
import { type ConversationSettings, SettingsResolver } from "@colloquy/core/ConversationSettings"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as HiddenFiles from "../sandbox/HiddenFiles.ts"
import { pathCalls } from "../sandbox/NodeFiles.ts"
import * as PathFacts from "../sandbox/PathFacts.ts"
import * as DocHeads from "./DocHeads.ts"
import { repositoryDirectories } from "./GitRoot.ts"
import { offer, type OfferedSkill, parse } from "./SkillText.ts"

const fileName = "SKILL.md"
const projectFolders = [".agents/skills", ".codex/skills"]
/** Bytes of a SKILL.md that are read; longer instructions belong in files beside it. */
const maxFileBytes = 65_536
/** Skills of one folder. */
const maxSkills = 200

/** Where skills are. */
export interface SkillsOptions {
  /** Absolute path; absent: there are no skills of the user. */
  readonly stateDirectory?: string
  /** Paths that no file of a project may lead to, besides the state directory. Absolute. */
  readonly hiddenPaths?: ReadonlyArray<string>
}

/** The skills of a directory, and the files that cannot be used. */
export interface SkillList {
  readonly skills: ReadonlyArray<OfferedSkill>
  readonly errors: ReadonlyArray<{ readonly path: string; readonly message: string }>
}

/** Reads the files as they are at each call. */
export interface Skills {
  /** Absolute paths of the folders whose entries are skills, existing or not. Never fails. */
  readonly folders: (
    cwd: string,
  ) => Effect.Effect<ReadonlyArray<string>, never, FileSystem.FileSystem | Path.Path>
  /** Of two skills with one name, the one nearest to the directory. Never fails. */
  readonly list: (cwd: string) => Effect.Effect<SkillList, never, FileSystem.FileSystem | Path.Path>
}

type HeadOf = Effect.Success<ReturnType<Effect.Success<ReturnType<typeof DocHeads.make>>["reader"]>>

interface Folder {
  readonly path: string
  readonly scope: OfferedSkill["scope"]
  readonly headOf: HeadOf
}

/** The skills of one folder, by the names of their directories. */
const skillsIn = Effect.fnUntraced(function* (
  { headOf, path: folder, scope }: Folder,
  view: PathFacts.PathView,
) {
  const skills: Array<OfferedSkill> = []
  const errors: Array<{ readonly path: string; readonly message: string }> = []
  const list: SkillList = { skills, errors }
  if ((yield* view.lookAt(folder)).type === "Missing") return list
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = yield* view.waiting(
    Effect.catch(fs.readDirectory(folder), ({ reason }) => {
      errors.push({ path: folder, message: `cannot be read: ${reason._tag}` })
      return Effect.succeed([])
    }),
  )
  const visible = names.filter((name) => !name.startsWith(".")).toSorted()
  if (visible.length > maxSkills) {
    const message = `has ${visible.length} entries, expected at most ${maxSkills}: the others are not used`
    errors.push({ path: folder, message })
  }
  for (const name of visible.slice(0, maxSkills)) {
    const file = path.join(folder, name, fileName)
    const head = yield* headOf(file, maxFileBytes)
    if (head === undefined) continue
    const read = parse(head.text)
    if (Result.isFailure(read)) errors.push({ path: file, message: read.failure })
    else skills.push({ ...read.success, path: file, scope })
  }
  return list
})

/** The skills of all folders; a later folder is nearer. */
const combined = (lists: ReadonlyArray<SkillList>): SkillList => {
  const byName = new Map<string, OfferedSkill>()
  for (const { skills } of lists) for (const skill of skills) byName.set(skill.name, skill)
  return { skills: [...byName.values()], errors: lists.flatMap(({ errors }) => errors) }
}

/** The folders in which the skills of a project may be. */
const foldersIn = (directories: ReadonlyArray<string>, path: Path.Path): ReadonlyArray<string> =>
  directories.flatMap((one) => projectFolders.map((name) => path.join(one, name)))

/** @param calls looks at paths; those of this system by default */
export const make = Effect.fnUntraced(function* (
  { hiddenPaths = [], stateDirectory: state }: SkillsOptions,
  calls: PathFacts.PathCalls = pathCalls,
) {
  const facts = PathFacts.make(calls)
  const hidden = HiddenFiles.make([
    ...new Set([...(state === undefined ? [] : [state]), ...hiddenPaths]),
  ])
  const ofProject = yield* DocHeads.make(hidden)
  // Nothing is hidden from the user's own files, because no command can write them.
  const ofUser = yield* DocHeads.make(HiddenFiles.make([]))
  const directoriesOf = (cwd: string, view: PathFacts.PathView) =>
    Effect.map(repositoryDirectories(cwd, view), (found) => found ?? [cwd])
  const skills: Skills = {
    folders: Effect.fnUntraced(function* (cwd) {
      const path = yield* Path.Path
      const directories = yield* directoriesOf(cwd, yield* facts.view)
      return [
        ...(state === undefined ? [] : [path.join(state, "skills")]),
        ...foldersIn(directories, path),
      ]
    }),
    list: Effect.fnUntraced(function* (cwd) {
      const path = yield* Path.Path
      const view = yield* facts.view
      const directories = yield* directoriesOf(cwd, view)
      const folders: Array<Folder> = []
      if (state !== undefined) {
        const headOf = yield* ofUser.reader(state, view)
        folders.push({ path: path.join(state, "skills"), scope: "user", headOf })
      }
      const headOf = yield* ofProject.reader(directories[0] ?? cwd, view)
      for (const folder of foldersIn(directories, path)) {
        folders.push({ path: folder, scope: "repo", headOf })
      }
      return combined(yield* Effect.forEach(folders, (folder) => skillsIn(folder, view)))
    }),
  }
  return skills
})

/** Adds the offer of the skills to the settings of another resolver, behind the instructions of the user's files. */
export const layer = (
  options: SkillsOptions,
): Layer.Layer<SettingsResolver, never, SettingsResolver | FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    SettingsResolver,
    Effect.gen(function* () {
      const { resolve } = yield* SettingsResolver
      const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      const skills = yield* make(options)
      const withSkills = Effect.fnUntraced(function* (settings: ConversationSettings) {
        const list = yield* skills.list(settings.cwd)
        for (const { message, path } of list.errors) {
          yield* Effect.logWarning(`${path} is not used: ${message}`)
        }
        const text = offer(list.skills)
        if (text === undefined) return settings
        const { userInstructions: before } = settings
        return {
          ...settings,
          userInstructions: before === undefined ? text : `${before}\n\n${text}`,
        }
      })
      return {
        resolve: (overrides) =>
          Effect.flatMap(resolve(overrides), (settings) =>
            Effect.provideContext(withSkills(settings), services),
          ),
      }
    }),
  )
