/**
 * Service: finds the programs that the server runs for its own purposes (`git`, `bwrap`, `rg`, a Node for patches).
 *
 * Each name is examined once. The result is an absolute path without symbolic links, outside every directory that
 * confined commands of any conversation can write to. Relative and empty entries of PATH and directories of a project
 * are never searched. Starts nothing. Part of L15.
 *
 * Known limit: the directories of conversations that an earlier server served are not known to this one.
 */
import type { GrantedPolicy } from "../policy/GrantedPolicy.ts"
import { writableRoots } from "../policy/WritableRoots.ts"
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { pathCalls } from "../sandbox/NodeFiles.ts"
import * as PathFacts from "../sandbox/PathFacts.ts"
import { followLinks } from "../sandbox/SymbolicLinks.ts"
import {
  type Candidate,
  type Refusal,
  refusalOf,
  rootHolding,
  searchOrder,
  systemDirectories,
} from "./ProgramTrust.ts"

/** No program of this name may run. The message says where it was searched and why each candidate was refused. */
export class ProgramNotTrusted extends Schema.TaggedError<ProgramNotTrusted>()(
  "ProgramNotTrusted",
  {
    program: Schema.String,
    /** Directories that were searched, in order. */
    searched: Schema.Array(Schema.String),
    refusals: Schema.Array(Schema.Struct({ path: Schema.String, reason: Schema.String })),
    message: Schema.String,
  },
) {}

/** What the search depends on. */
export interface TrustedProgramsOptions {
  /**
   * Environment of the server: PATH is searched after the directories of the system, and commands can write to TMPDIR.
   */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Looks at the directories of conversations; those of this system by default. */
  readonly calls?: PathFacts.PathCalls
}

/** How many writable roots and workspaces are remembered; the oldest are forgotten first. */
const maxRemembered = 1024
/** Examined paths that are cached. Distinct program names are few; tool servers add theirs. */
const maxExamined = 1024

/** Finds trustworthy programs; see the header of this file. */
export class TrustedPrograms extends Context.Service<
  TrustedPrograms,
  {
    /** From now on, nothing that commands of such a conversation can write to is trusted. `cwd` is absolute. */
    readonly remember: (policy: GrantedPolicy, cwd: string) => Effect.Effect<void>
    /**
     * The absolute real path of the program. `installed` is tried first: the absolute path of a copy that was installed
     * together with the server. Programs on PATH are also refused in workspaces, whatever commands can write there.
     */
    readonly resolve: (name: string, installed?: string) => Effect.Effect<string, ProgramNotTrusted>
    /**
     * The absolute path of a program that the user's configuration names. An absolute path is the only candidate, and
     * keeps its symbolic links; a name is searched like that of `resolve`.
     */
    readonly resolveConfigured: (program: string) => Effect.Effect<string, ProgramNotTrusted>
    /**
     * `searchPath` without relative and empty entries, and without directories that commands can write to. It is for
     * programs that a person configured by name or approved. The order is kept. Where no entry is left the result is
     * the directories of the system, because an empty search path would mean the working directory.
     */
    readonly safeSearchPath: (searchPath: string) => Effect.Effect<string>
    /**
     * A program of the system that is started from its fixed path and lies in one of the roots; undefined when none
     * does.
     */
    readonly systemProgramIn: (roots: ReadonlyArray<string>) => Effect.Effect<string | undefined>
  }
>()("@colloquy/tools/programs/TrustedPrograms") {
  /** The service over the file system of this machine. */
  static readonly layer = (
    options: TrustedProgramsOptions,
  ): Layer.Layer<TrustedPrograms, never, FileSystem.FileSystem | Path.Path> =>
    Layer.effect(this, make(options))

  /** The same as an effect. */
  static readonly make = (
    options: TrustedProgramsOptions,
  ): Effect.Effect<TrustedPrograms["Service"], never, FileSystem.FileSystem | Path.Path> =>
    make(options)
}

/** Programs that are started by fixed paths: the watchdog and the gate, and what those two start. */
const systemPrograms = ["/bin/sh", "/usr/bin/env", "/bin/rmdir", "/bin/grep", "/bin/bash"]

const isOpenToAll = ({ mode, type }: FileSystem.File.Info): boolean =>
  (mode & 0o002) !== 0 && !(type === "Directory" && (mode & 0o1000) !== 0)

/** The first file or directory on the way to these places that every user can change. */
const openPlaceOf = Effect.fnUntraced(function* (places: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const { dirname } = yield* Path.Path
  const seen = new Set<string>()
  for (const place of places) {
    for (let at = place; !seen.has(at); at = dirname(at)) {
      seen.add(at)
      const info = yield* fs.stat(at)
      if (isOpenToAll(info)) return at
    }
  }
  return undefined
})

/** Examines one path. What cannot be examined counts as no program. */
const examine = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const places = [path]
  const missing: Candidate = { path, places, realPath: undefined, openPlace: undefined }
  return yield* Effect.gen(function* () {
    const real = yield* followLinks(path, (link) => Effect.sync(() => places.push(link)))
    if (Option.isNone(real)) return undefined
    const info = yield* fs.stat(real.value)
    if (info.type !== "File" || (info.mode & 0o111) === 0) return missing
    places.push(real.value)
    const openPlace = yield* openPlaceOf(places)
    return { path, places, realPath: real.value, openPlace } satisfies Candidate
  }).pipe(Effect.orElseSucceed(() => missing))
})

const untrusted = (
  program: string,
  searched: ReadonlyArray<string>,
  refusals: ReadonlyArray<Refusal>,
): ProgramNotTrusted => {
  const where = searched.length === 0 ? "" : `; searched: ${searched.join(", ")}`
  const why = refusals.map(({ path, reason }) => `; ${path} is refused: ${reason}`).join("")
  return new ProgramNotTrusted({
    program,
    searched,
    refusals,
    message: `no trustworthy ${program} was found${where}${why}`,
  })
}

/** Where commands can write under the policy. Where the policy confines nothing, no directory is singled out. */
const rootsUnder = (policy: GrantedPolicy, cwd: string): ReadonlyArray<string> => {
  const writable = writableRoots(policy, { cwd, slashTmpIsDirectory: false, protectedPaths: [] })
  return writable._tag === "Everything" ? [] : writable.roots.map(({ root }) => root)
}

interface Remembered {
  /** Directories that confined commands can write to. */
  readonly writable: ReadonlySet<string>
  /** Working directories of conversations, writable or not. */
  readonly workspaces: ReadonlySet<string>
}

const added = (known: ReadonlySet<string>, more: ReadonlyArray<string>): ReadonlySet<string> =>
  more.every((directory) => known.has(directory))
    ? known
    : new Set([...known, ...more].slice(-maxRemembered))

/** The directories as they were named, followed by the same without symbolic links. */
const withRealPaths = Effect.fnUntraced(function* (
  directories: ReadonlyArray<string>,
  view: PathFacts.PathView,
) {
  const path = yield* Path.Path
  const real = yield* Effect.forEach(directories, (directory) =>
    Effect.map(view.realPath(directory), (found) => found ?? directory),
  )
  return [...directories.map((directory) => path.resolve(directory)), ...real]
})

/** True when it is known without waiting that the directory, as it was named, is its own real path or is missing. */
const isWithoutLinks = (directory: string, view: PathFacts.PathView): boolean => {
  const found = view.lookNow(directory)
  return found !== undefined && found.type !== "Link"
}

/** Every path that determines what a directory is; where one cannot be examined, those found before it. */
const placesOf = Effect.fnUntraced(function* (directory: string) {
  const path = yield* Path.Path
  const places = [path.resolve(directory)]
  const add = (place: string) => Effect.sync(() => places.push(place))
  yield* followLinks(directory, add).pipe(
    Effect.flatMap((real) => (Option.isSome(real) ? add(real.value) : Effect.void)),
    Effect.ignore,
  )
  return places
})

type Services = FileSystem.FileSystem | Path.Path

/** The parts of a search that are created once. */
interface SearchParts {
  /** PATH of the server. */
  readonly searchPath: string
  readonly services: Context.Context<Services>
  readonly facts: PathFacts.PathFacts
  /** Directories for temporary files: every policy that lets commands write may include them. */
  readonly temporary: Effect.Effect<ReadonlyArray<string>>
  readonly remembered: Ref.Ref<Remembered>
  /** Examined paths; undefined for a path without a file. */
  readonly examined: Cache.Cache<string, Candidate | undefined>
}

/** Searches for programs, and decides about each candidate by the directories that commands can write to. */
class ProgramSearch {
  private readonly parts: SearchParts

  constructor(parts: SearchParts) {
    this.parts = parts
  }

  service(): TrustedPrograms["Service"] {
    return TrustedPrograms.of({
      remember: (policy, cwd) => this.remember(policy, cwd),
      resolve: (name, installed) => this.resolve(name, installed),
      resolveConfigured: (program) => this.resolveConfigured(program),
      safeSearchPath: (searchPath) => this.safeSearchPath(searchPath),
      systemProgramIn: (roots) => this.systemProgramIn(roots),
    })
  }

  private remember(policy: GrantedPolicy, cwd: string): Effect.Effect<void> {
    const { facts, services } = this.parts
    // Looked at anew in each turn: a link on the way may lead elsewhere by now.
    return Effect.flatMap(facts.view, (view) => {
      const roots = rootsUnder(policy, cwd)
      if (isWithoutLinks(cwd, view) && roots.every((root) => isWithoutLinks(root, view))) {
        return this.add(roots, [cwd])
      }
      return Effect.flatMap(withRealPaths(roots, view), (writable) =>
        Effect.flatMap(withRealPaths([cwd], view), (places) => this.add(writable, places)),
      ).pipe(Effect.provide(services))
    })
  }

  private add(roots: ReadonlyArray<string>, places: ReadonlyArray<string>): Effect.Effect<void> {
    return Ref.update(this.parts.remembered, (known) => ({
      writable: added(known.writable, roots),
      workspaces: added(known.workspaces, places),
    }))
  }

  private resolve(name: string, installed?: string): Effect.Effect<string, ProgramNotTrusted> {
    return Effect.gen({ self: this }, function* () {
      const { examined, remembered, searchPath, services } = this.parts
      const path = Context.get(services, Path.Path)
      const roots = yield* this.writable()
      const { directories, ignored } = searchOrder(searchPath)
      const projects = [...roots, ...(yield* Ref.get(remembered)).workspaces]
      const refusals: Array<Refusal> = []
      const attempts = [
        ...(installed === undefined ? [] : [{ at: installed, excluded: roots }]),
        ...directories.map((at) => ({ at: path.join(at, name), excluded: projects })),
      ]
      for (const { at, excluded } of attempts) {
        const candidate = yield* Cache.get(examined, at)
        if (candidate === undefined) continue
        const refusal = refusalOf(candidate, excluded)
        if (refusal === undefined && candidate.realPath !== undefined) return candidate.realPath
        if (refusal !== undefined) refusals.push(refusal)
      }
      return yield* untrusted(name, directories, [...refusals, ...ignored])
    })
  }

  private resolveConfigured(program: string): Effect.Effect<string, ProgramNotTrusted> {
    return Effect.gen({ self: this }, function* () {
      if (!program.includes("/")) return yield* this.resolve(program)
      if (!program.startsWith("/")) {
        const reason = "expected an absolute path, or a name to be searched on PATH"
        return yield* untrusted(program, [], [{ path: program, reason }])
      }
      const candidate = yield* Cache.get(this.parts.examined, program)
      if (candidate === undefined) {
        return yield* untrusted(program, [], [{ path: program, reason: "there is no such file" }])
      }
      const refusal = refusalOf(candidate, yield* this.writable())
      return refusal === undefined ? program : yield* untrusted(program, [], [refusal])
    })
  }

  private safeSearchPath(searchPath: string): Effect.Effect<string> {
    return Effect.gen({ self: this }, function* () {
      const roots = yield* this.writable()
      const entries = searchPath.split(":").filter((entry) => entry.startsWith("/"))
      const safe = yield* Effect.filter(entries, (entry) =>
        Effect.map(placesOf(entry), (places) =>
          places.every((place) => rootHolding(place, roots) === undefined),
        ),
      )
      return (safe.length === 0 ? systemDirectories : safe).join(":")
    }).pipe(Effect.provide(this.parts.services))
  }

  private systemProgramIn(roots: ReadonlyArray<string>): Effect.Effect<string | undefined> {
    const { examined } = this.parts
    return Effect.gen(function* () {
      for (const program of systemPrograms) {
        const candidate = yield* Cache.get(examined, program)
        const places = candidate?.places ?? []
        if (places.some((place) => rootHolding(place, roots) !== undefined)) return program
      }
      return undefined
    })
  }

  /** Directories that confined commands of any remembered conversation can write to. */
  private writable(): Effect.Effect<ReadonlyArray<string>> {
    const { remembered, temporary } = this.parts
    return Effect.gen(function* () {
      return [...(yield* temporary), ...(yield* Ref.get(remembered)).writable]
    })
  }
}

const make = Effect.fnUntraced(function* ({
  calls = pathCalls,
  environment,
}: TrustedProgramsOptions) {
  const services = yield* Effect.context<Services>()
  const { PATH: searchPath = "", TMPDIR: tmpdir = "" } = environment
  const facts = PathFacts.make(calls)
  const temporary = Effect.flatMap(facts.view, (view) =>
    withRealPaths(["/tmp", ...(tmpdir.startsWith("/") ? [tmpdir] : [])], view),
  )
  return new ProgramSearch({
    searchPath,
    services,
    facts,
    temporary: yield* Effect.cached(Effect.provide(temporary, services)),
    remembered: yield* Ref.make<Remembered>({ writable: new Set(), workspaces: new Set() }),
    examined: yield* Cache.make({
      capacity: maxExamined,
      lookup: (path: string) => Effect.provide(examine(path), services),
    }),
  }).service()
})
