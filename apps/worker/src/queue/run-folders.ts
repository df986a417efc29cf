import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

const RUN_FOLDER = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.(\d+)$/

/** Folder of a run in the work directory: the job and the number of the run. */
export function runFolder(workdir: string, id: string, run: number): string {
  return join(workdir, `${id}.${run}`)
}

/** Jobs that have folders in the work directory. */
export async function jobsWithFolders(workdir: string): Promise<string[]> {
  return [...new Set((await readdir(workdir)).flatMap((name) => RUN_FOLDER.exec(name)?.[1] ?? []))]
}

/** Removes the folders of a job's runs with a lower number, also of runs that were killed before they began. */
export async function removeRunFolders(workdir: string, id: string, before = Infinity): Promise<void> {
  for (const name of await readdir(workdir)) {
    const [, job, run] = RUN_FOLDER.exec(name) ?? []
    if (job === id && Number(run) < before) await rm(join(workdir, name), { recursive: true, force: true })
  }
}
