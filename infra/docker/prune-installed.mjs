import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Removes from installed dependencies what no program of this machine reads: ONNX Runtime for other platforms, the
 * second copy of Node with its headers, and source maps. Runs on Node 20. Returns the bytes removed.
 *
 * @param {string} root the folder with `node_modules`
 * @param {RegExp} files names of files to remove in every package
 * @returns {number}
 */
export function pruneInstalled(root, files = /\.map$/) {
  const store = join(root, 'node_modules', '.pnpm')
  const { platform, arch } = process
  let bytes = 0
  for (const { name: entry } of readdirSync(store, { withFileTypes: true }).filter((found) => found.isDirectory())) {
    const packages = join(store, entry, 'node_modules')
    if (entry.startsWith('node@')) bytes += remove(join(packages, 'node', 'node_modules'))
    if (entry.startsWith('onnxruntime-node@')) {
      for (const api of children(join(packages, 'onnxruntime-node', 'bin'))) {
        for (const system of children(api)) {
          if (!system.endsWith(platform)) bytes += remove(system)
          else for (const cpu of children(system)) if (!cpu.endsWith(arch)) bytes += remove(cpu)
        }
      }
    }
    bytes += removeFiles(packages, files)
  }
  return bytes
}

function children(folder) {
  const stat = lstatSync(folder, { throwIfNoEntry: false })
  return stat?.isDirectory() ? readdirSync(folder).map((name) => join(folder, name)) : []
}

function removeFiles(folder, files) {
  let bytes = 0
  for (const path of children(folder)) {
    const stat = lstatSync(path)
    if (stat.isDirectory()) bytes += removeFiles(path, files)
    else if (stat.isFile() && files.test(path)) bytes += remove(path)
  }
  return bytes
}

/** Removes a file or a folder. A symbolic link is left. Returns the bytes removed. */
export function remove(path) {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined || stat.isSymbolicLink()) return 0
  const size = stat.isDirectory() ? sizeOf(path) : stat.size
  rmSync(path, { recursive: true })
  return size
}

function sizeOf(folder) {
  let bytes = 0
  for (const path of children(folder)) {
    const stat = lstatSync(path)
    bytes += stat.isDirectory() ? sizeOf(path) : stat.size
  }
  return bytes
}
