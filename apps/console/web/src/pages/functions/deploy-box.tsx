import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Notice, ProblemNotice } from '../../components/basics.tsx'
import { toProblem, type Problem } from '../../lib/api.ts'
import { base64Of, filesOfFolder, folderProblem, functionNameOf, type ChosenFile } from '../../lib/folder.ts'
import { formatBytes } from '../../lib/format.ts'
import { deployFunction } from '../../lib/functions.ts'
import type { Project } from '../../lib/project.ts'

/** Has an input ask for a folder, by an attribute that types of HTML do not know. */
function asFolder(input: HTMLInputElement | null): void {
  input?.setAttribute('webkitdirectory', '')
}

/** Takes a folder of this machine and deploys it as a function. */
export function DeployBox({ project, onDone }: { project: Project; onDone: (name: string) => void }): JSX.Element {
  const [files, setFiles] = useState<readonly ChosenFile[]>([])
  const [left, setLeft] = useState<readonly string[]>([])
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<Problem | null>(null)
  const [busy, setBusy] = useState(false)
  const wrong = files.length === 0 ? null : folderProblem(name, files)
  const deploy = async () => {
    setBusy(true)
    setProblem(null)
    try {
      const entries = await Promise.all(
        files.map(async ({ path, file }) => [path, { base64: await base64Of(file) }] as const),
      )
      await deployFunction(project.ref, name, Object.fromEntries(entries))
      onDone(name)
    } catch (error) {
      setProblem(toProblem(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      class="card"
      aria-label="Deploy a folder"
      onSubmit={(event) => {
        event.preventDefault()
        void deploy()
      }}
    >
      <div class="body stack">
        <div class="field">
          <label for="deploy-folder">Folder with an index.ts</label>
          <input
            ref={asFolder}
            id="deploy-folder"
            type="file"
            multiple
            onChange={(event) => {
              const chosen = [...(event.currentTarget.files ?? [])]
              const found = filesOfFolder(chosen)
              setFiles(found.files)
              setLeft(found.left)
              setName(functionNameOf(chosen))
              setProblem(null)
            }}
          />
          <p class="help">
            Who may call it and how much it may use stand in its <code>function.json</code>. Packages of npm: deploy
            with <code>terrane functions deploy</code>, which bundles them.
          </p>
        </div>
        {files.length > 0 && (
          <>
            <div class="field">
              <label for="deploy-name">Name</label>
              <input
                id="deploy-name"
                class="input mono"
                value={name}
                placeholder="hello"
                aria-invalid={wrong !== null}
                aria-describedby="deploy-help"
                onInput={(event) => setName(event.currentTarget.value)}
              />
              <p id="deploy-help" class={wrong ? 'problem' : 'help'}>
                {wrong ??
                  `${files.length} ${files.length === 1 ? 'file' : 'files'}, ${formatBytes(files.reduce((sum, { file }) => sum + file.size, 0))}. A function of that name gets a new version.`}
              </p>
            </div>
            {left.length > 0 && (
              <Notice kind="warn">
                Left behind: {left.slice(0, 3).join(', ')}
                {left.length > 3 && ` and ${left.length - 3} more`}. Hidden files and node_modules are not sent; set
                secrets with <code>terrane functions secrets</code>.
              </Notice>
            )}
          </>
        )}
        {problem && <ProblemNotice problem={problem} />}
        <div class="row">
          <button type="submit" class="button primary" disabled={busy || files.length === 0 || wrong !== null}>
            {busy ? 'Building and starting it …' : 'Deploy'}
          </button>
        </div>
      </div>
    </form>
  )
}
