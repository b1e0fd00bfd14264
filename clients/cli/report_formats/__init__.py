"""Reports of findings for CI: JUnit, SARIF, GitHub, GitLab and Markdown."""
