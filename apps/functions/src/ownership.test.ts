import { link, lstat, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { claimFolder } from './ownership.ts'

test('modes are set on what lies in a folder, and on nothing that links lead to', async () => {
  const root = await mkdtemp(join(tmpdir(), 'terrane-claim-'))
  const [victim, other, folder] = ['victim', 'other', 'folder'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ]
  await writeFile(victim, 'x', { mode: 0o640 })
  await writeFile(other, 'x', { mode: 0o640 })
  await mkdir(join(folder, 'sub'), { recursive: true })
  await writeFile(join(folder, 'sub/own'), 'x', { mode: 0o600 })
  await symlink(victim, join(folder, 'symbolic'))
  await symlink(root, join(folder, 'to-a-folder'))
  await link(other, join(folder, 'sub/hard'))
  await claimFolder(folder, { fileMode: 0o444, folderMode: 0o555 })
  const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)
  expect(await Promise.all([victim, other, join(folder, 'sub/own'), join(folder, 'sub'), folder].map(mode))).toEqual([
    '640',
    '640',
    '444',
    '555',
    '555',
  ])
  expect(await readdir(folder)).toEqual(['sub'])
  expect(await readdir(join(folder, 'sub'))).toEqual(['own'])
  expect((await lstat(other)).nlink).toBe(1)
  await claimFolder(folder, { fileMode: 0o644, folderMode: 0o755 })
  await rm(root, { recursive: true })
})
