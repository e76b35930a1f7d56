// Decodes YAML or JSON on the standard input into a type of Kubernetes, strictly, and prints it as Kubernetes encodes
// it. Unknown and repeated fields, and values of other types, are errors.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	config "k8s.io/kube-scheduler/config/v1"
	extender "k8s.io/kube-scheduler/extender/v1"
	"sigs.k8s.io/yaml"
)

// The types that no schema of Kubernetes describes: of files and messages of its scheduler.
var types = map[string]any{
	"KubeSchedulerConfiguration": &config.KubeSchedulerConfiguration{},
	"ExtenderArgs":               &extender.ExtenderArgs{},
	"HostPriorityList":           &extender.HostPriorityList{},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 || types[os.Args[1]] == nil {
		return fmt.Errorf("expected the name of a type, found %q", os.Args[1:])
	}
	value := types[os.Args[1]]
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(text, value); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(value)
}
