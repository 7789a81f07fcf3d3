/** Methods of app-server v2 on files of the machine. Paths are absolute; contents are in base64. */
import * as Schema from "effect/Schema"
import { SystemText } from "../text/SystemText.ts"
import { notification, type Pure, request } from "../Method.ts"
import { maybe } from "./Values.ts"

const since = "0.110"
const done = Schema.Struct({})
const path = { path: SystemText }

const read = <const M extends string, R extends Pure>(method: M, result: R, doc: string) =>
  request(method, { params: Schema.Struct(path), result, since, doc })

const write = <const M extends string, P extends Pure>(method: M, params: P, doc: string) =>
  request(method, { params, result: done, cancellable: false, since, doc })

/** Reads a file. */
export const FsReadFile = read(
  "fs/readFile",
  Schema.Struct({ dataBase64: Schema.String }),
  "Reads a file.",
)

const fileKind = { isDirectory: Schema.Boolean, isFile: Schema.Boolean }

/** Describes a file. */
export const FsGetMetadata = read(
  "fs/getMetadata",
  Schema.Struct({
    ...fileKind,
    isSymlink: Schema.Boolean,
    /** In bytes. */
    size: Schema.Int,
    /** 0 where the file system does not know it. */
    createdAtMs: Schema.Int,
    modifiedAtMs: Schema.Int,
  }),
  "Describes a file or directory. Symbolic links are followed, except for `isSymlink`.",
)

/** Lists a directory. */
export const FsReadDirectory = read(
  "fs/readDirectory",
  Schema.Struct({
    entries: Schema.Array(Schema.Struct({ fileName: Schema.String, ...fileKind })),
  }),
  "Lists the entries of a directory.",
)

/** Writes a file. */
export const FsWriteFile = write(
  "fs/writeFile",
  Schema.Struct({ ...path, dataBase64: Schema.String }),
  "Writes a file, replacing one that exists.",
)

/** Creates a directory. */
export const FsCreateDirectory = write(
  "fs/createDirectory",
  Schema.Struct({
    ...path,
    /** Default true: missing parents are created too. */
    recursive: maybe(Schema.Boolean),
  }),
  "Creates a directory.",
)

/** Copies a file or directory. */
export const FsCopy = write(
  "fs/copy",
  Schema.Struct({
    sourcePath: SystemText,
    destinationPath: SystemText,
    /** Needed for directories. Default false. */
    recursive: maybe(Schema.Boolean),
  }),
  "Copies a file or a directory.",
)

/** Removes a file or directory. */
export const FsRemove = write(
  "fs/remove",
  Schema.Struct({
    ...path,
    /** Default true: directories are removed with what is in them. */
    recursive: maybe(Schema.Boolean),
    /** Default true: a path that does not exist is no error. */
    force: maybe(Schema.Boolean),
  }),
  "Removes a file or a directory.",
)

const watch = {
  /** Chosen by the client; unique on its connection. */
  watchId: Schema.String,
}

/** Watches a path. */
export const FsWatch = request("fs/watch", {
  params: Schema.Struct({ ...watch, ...path }),
  result: Schema.Struct({
    /** Without symbolic links. */
    path: Schema.String,
  }),
  cancellable: false,
  since,
  doc: "Notifies this connection of changes of a file, or of the entries of a directory.",
})

/** Ends a watch. */
export const FsUnwatch = write(
  "fs/unwatch",
  Schema.Struct(watch),
  "Ends a watch of this connection.",
)

/** Something was changed. */
export const FsChanged = notification("fs/changed", {
  params: Schema.Struct({ ...watch, changedPaths: Schema.Array(Schema.String) }),
  since,
  doc: "What is watched has changed. Sent to the connection that watches it.",
})
